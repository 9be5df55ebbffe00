-- Behind `… as wanted (queue, tenant)`: how many jobs the tenant may have in the queue (allowed.places), and how many more than it has
-- (room.free), deferred ones apart.
-- Index:   tenant_queue_pkey, job_deferred_idx, job_for_share_idx, job_governed_idx, queue_turn_pkey, job_suspect_idx,
--          job_blocked_by_order_idx, job_blocked_by_limit_idx, job_parked_idx
-- The tenant's own number goes before the queue's, which the first deferred job tells. Only warned, a tenant is not bounded: then nothing
-- is counted. `offset 0` has the number looked up once, and not in every branch.
cross join lateral (
  select coalesce(
    (select case on_excess when 'warn' then 2147483647 else max_jobs end from millrace.tenant_queue as setting
     where setting.tenant = wanted.tenant and setting.queue = wanted.queue),
    (select tenant_jobs from millrace.job
     where queue = wanted.queue and tenant = wanted.tenant and status = 'blocked' and deferred_keys is not null
     order by id limit 1),
    2147483647
  ) as places
  offset 0
) as allowed
cross join lateral (select case allowed.places when 2147483647 then 0 else allowed.places end as most offset 0) as counted
cross join lateral (
  select greatest(allowed.places - count(*), 0)::int as free
  from (
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
  ) as live
) as room
