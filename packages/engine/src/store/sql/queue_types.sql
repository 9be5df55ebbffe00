-- Which types are waiting in these queues? A loose index scan: one probe per type, whatever the backlog.
-- Params:  $1 queues text[]
-- Returns: queue, type
-- Locks:   none
-- Index:   job_for_claim_by_type_idx
-- `once` is one row that the planner takes for a thousand. With bad statistics it expects one job, and would as soon
-- read the whole queue by job_for_claim_idx and sort it; to sort a thousand is never as cheap as to stop at the first.
select wanted.queue, present.type
from unnest($1::text[]) as wanted (queue)
cross join lateral (
  with recursive present (type) as (
    (select type from millrace.job cross join generate_series(1, (select 1)) as once
     where queue = wanted.queue and status = 'pending' and crashes = 0
     order by type limit 1)
    union all
    select next.type
    from present
    cross join lateral (
      select type from millrace.job cross join generate_series(1, (select 1)) as once
      where queue = wanted.queue and status = 'pending' and crashes = 0 and type > present.type
      order by type limit 1
    ) as next
  )
  select type from present
) as present;
