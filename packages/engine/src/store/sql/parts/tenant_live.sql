-- Behind `… as wanted (queue, tenant)` and `… as counted (most)`: one row for each job that the tenant has in the queue, deferred
-- ones apart. Each branch reads no further than counted.most.
-- Index:   job_for_share_idx, job_governed_idx, queue_turn_pkey, job_suspect_idx, job_blocked_by_order_idx, job_blocked_by_limit_idx,
--          job_parked_idx
(select from millrace.job
 where queue = wanted.queue and tenant = wanted.tenant and status = 'pending' and crashes = 0 and tenant is not null
 order by priority, run_at, id limit counted.most)
union all
(select from millrace.job
 where queue = wanted.queue and tenant = wanted.tenant and status = 'processing' and limits is not null
   and started_at >= coalesce((select running_since from millrace.queue_turn where queue_turn.queue = wanted.queue), '-infinity')
 order by started_at limit counted.most)
union all
(select from millrace.job
 where queue = wanted.queue and tenant = wanted.tenant and status = 'pending' and crashes > 0
 order by priority, run_at, id limit counted.most)
union all
(select from millrace.job
 where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and status = 'blocked' and order_key is not null
 order by order_key, id limit counted.most)
union all
(select from millrace.job
 where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and status = 'blocked' and limit_key is not null
 order by limit_key, priority, run_at, id limit counted.most)
union all
(select from millrace.job
 where queue = wanted.queue and tenant = wanted.tenant and status = 'blocked' and parked_until is not null
 order by priority, run_at, id limit counted.most)
