-- Which types are waiting in these queues? A loose index scan: one probe per type, whatever the backlog.
-- Params:  $1 queues text[]
-- Returns: queue, type
-- Locks:   none
-- Index:   job_for_claim_by_type_idx
select wanted.queue, present.type
from unnest($1::text[]) as wanted (queue)
cross join lateral (
  with recursive present (type) as (
    (select type from millrace.job
     where queue = wanted.queue and status = 'pending' and crashes = 0
     order by type limit 1)
    union all
    select next.type
    from present
    cross join lateral (
      select type from millrace.job
      where queue = wanted.queue and status = 'pending' and crashes = 0 and type > present.type
      order by type limit 1
    ) as next
  )
  select type from present
) as present;
