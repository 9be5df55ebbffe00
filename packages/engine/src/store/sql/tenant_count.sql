-- How many jobs a tenant has in a queue, waiting, blocked, deferred and running; counted no further than asked.
-- Params:  $1 queue text, $2 tenant text, $3 at_most int
-- Returns: one row: jobs
-- Locks:   none
-- Index:   job_for_share_idx, job_governed_idx, queue_turn_pkey, job_suspect_idx, job_blocked_by_order_idx,
--          job_blocked_by_limit_idx, job_parked_idx, job_deferred_idx
select count(*)::int as jobs
from (
  (select from millrace.job
   where queue = $1 and tenant = $2 and status = 'pending' and crashes = 0 and tenant is not null
   order by priority, run_at, id limit $3)
  union all
  (select from millrace.job
   where queue = $1 and tenant = $2 and status = 'processing' and limits is not null
     and started_at >= coalesce((select running_since from millrace.queue_turn where queue_turn.queue = $1), '-infinity')
   order by started_at limit $3)
  union all
  (select from millrace.job
   where queue = $1 and tenant = $2 and status = 'pending' and crashes > 0
   order by priority, run_at, id limit $3)
  union all
  (select from millrace.job
   where queue = $1 and coalesce(tenant, '') = $2 and status = 'blocked' and order_key is not null
   order by order_key, id limit $3)
  union all
  (select from millrace.job
   where queue = $1 and coalesce(tenant, '') = $2 and status = 'blocked' and limit_key is not null
   order by limit_key, priority, run_at, id limit $3)
  union all
  (select from millrace.job
   where queue = $1 and tenant = $2 and status = 'blocked' and parked_until is not null
   order by priority, run_at, id limit $3)
  union all
  (select from millrace.job
   where queue = $1 and tenant = $2 and status = 'blocked' and deferred_keys is not null
   order by id limit $3)
) as live;
