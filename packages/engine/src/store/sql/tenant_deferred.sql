-- Which tenants have deferred jobs? A loose index scan: one step per queue and tenant, whatever is deferred of it.
-- Params:  $1 queue, $2 tenant: behind which to begin; $3 limit int
-- Returns: queue, tenant in order, key: always '', and whether one may be let through as far as can be seen without a lock.
-- Locks:   none: tenant_admit.sql decides.
-- Index:   those of parts/tenant_room.sql
with recursive walk (queue, tenant, step) as (
  (select queue, tenant, 1 from millrace.job
   where status = 'blocked' and deferred_keys is not null and (queue, tenant) > ($1::text, $2::text)
   order by queue, tenant, id limit 1)
  union all
  select next.*, walk.step + 1
  from walk
  cross join lateral (
    select queue, tenant from millrace.job
    where status = 'blocked' and deferred_keys is not null and (queue, tenant) > (walk.queue, walk.tenant)
    order by queue, tenant, id limit 1
  ) as next
  where walk.step < $3
)
select wanted.queue, wanted.tenant, '' as key, room.free > 0 as is_free
from walk as wanted
-- part: tenant_room
;
