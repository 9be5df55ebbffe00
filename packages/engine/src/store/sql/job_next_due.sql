-- When does the next waiting job of these queues become due?
-- Params:  $1 now timestamptz or null, $2 queues text[]
-- Returns: one row: wait_ms until then (0 or less: something is due now), or null when nothing waits.
-- Locks:   none
-- Index:   job_for_claim_idx, job_suspect_idx
select (extract(epoch from min(first.run_at) - coalesce($1, now())) * 1000)::float8 as wait_ms
from unnest($2::text[]) as wanted (queue)
cross join lateral (
  with recursive level (priority, run_at) as (
    (select priority, run_at from millrace.job
     where queue = wanted.queue and status = 'pending' and crashes = 0
     order by priority, run_at limit 1)
    union all
    select next.priority, next.run_at
    from level
    cross join lateral (
      select priority, run_at from millrace.job
      where queue = wanted.queue and status = 'pending' and crashes = 0 and priority > level.priority
      order by priority, run_at limit 1
    ) as next
  )
  select run_at from level
  union all
  select run_at from millrace.job
  where queue = wanted.queue and status = 'pending' and crashes > 0
) as first;
