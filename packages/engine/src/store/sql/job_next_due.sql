-- When does the next waiting job of these queues become due, and may they be claimed as before?
-- Params:  $1 now timestamptz or null, $2 queues text[],
--          $3 queues text[], $4 priorities int[], $5 run_ats float8[] in seconds, $6 ids bigint[]: as the entries of job_claim.sql
-- Returns: one row for each queue: queue, wait_ms until then (0 or less: something is due now) or null when nothing waits,
--          is_shared: jobs of tenants wait in it, rules_version
-- Locks:   none
-- Index:   job_for_claim_idx, job_for_share_idx, job_suspect_idx
-- Of tenants a thousand streams are looked at. With more, one that is due sooner may be missed until the next poll.
with first as materialized (
  select wanted.queue, next.run_at, next.is_shared
  from unnest($2::text[]) as wanted (queue)
  cross join lateral (
    (
      with recursive level (priority, run_at) as (
        select -1, null::timestamptz
        union all
        select next.priority, next.run_at
        from level
        left join lateral (
          select priority, to_timestamp(run_at_s) as run_at, id
          from unnest($3::text[], $4::int[], $5::float8[], $6::bigint[]) as given (queue, priority, run_at_s, id)
          where queue = wanted.queue and priority > level.priority
          limit 1
        ) as entry on true
        cross join lateral (
          (select priority, run_at from millrace.job
           where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
             and priority > level.priority and priority < entry.priority
           order by priority, run_at limit 1)
          union all
          (select entry.priority, (
             select run_at from millrace.job
             where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
               and priority = entry.priority and (run_at, id) > (entry.run_at, entry.id)
             order by run_at, id limit 1
           )
           where entry.priority is not null)
          union all
          (select priority, run_at from millrace.job
           where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
             and priority > level.priority and entry.priority is null
           order by priority, run_at limit 1)
          limit 1
        ) as next
      )
      select run_at, false as is_shared from level
    )
    union all
    (
      with recursive stream (tenant, priority, run_at) as (
        (select tenant, priority, run_at from millrace.job
         where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is not null
         order by tenant, priority, run_at limit 1)
        union all
        select next.tenant, next.priority, next.run_at
        from stream
        cross join lateral (
          select tenant, priority, run_at from millrace.job
          where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is not null
            and (tenant, priority) > (stream.tenant, stream.priority)
          order by tenant, priority, run_at limit 1
        ) as next
      )
      select run_at, true from stream limit 1000
    )
    union all
    select run_at, tenant is not null from millrace.job
    where queue = wanted.queue and status = 'pending' and crashes > 0
  ) as next
)
select
  queue,
  (extract(epoch from min(run_at) - coalesce($1, now())) * 1000)::float8 as wait_ms,
  bool_or(is_shared) as is_shared,
  (select version from millrace.rules_version)::float8 as rules_version
from first
group by queue;
