-- The slots of a tenant in the queues for which some were set, as they hold there.
-- Params:  $1 tenant text
-- Returns: queue, min_slots, max_slots (null: as many as are free), updated_at, updated_by
-- Locks:   none
-- Index:   tenant_slots_pkey, tenant_pkey
select
  slots.queue,
  coalesce(slots.min_slots, tenant.min_slots, 0) as min_slots,
  case when slots.sets_max then slots.max_slots else tenant.max_slots end as max_slots,
  slots.updated_at,
  slots.updated_by
from millrace.tenant_slots as slots
left join millrace.tenant on tenant.name = slots.tenant
where slots.tenant = $1
order by slots.queue;
