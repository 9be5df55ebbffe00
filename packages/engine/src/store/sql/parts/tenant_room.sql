-- Behind `… as wanted (queue, tenant)`: how many jobs the tenant may have in the queue (allowed.places), and how many more than it has
-- (room.free), deferred ones apart.
-- Index:   tenant_queue_pkey, job_deferred_idx, those of tenant_live.sql
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
-- part: tenant_live
  ) as live
) as room
