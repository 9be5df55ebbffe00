-- Set the slots of a tenant in one queue; what is not given stays as it is.
-- Params:  $1 tenant text, $2 queue text, $3 min_slots int or null, $4 max_slots int or null, $5 sets_max boolean: $4 is given,
--          $6 actor text
-- Returns: nothing.
-- Locks:   its row.
-- Index:   tenant_slots_pkey
insert into millrace.tenant_slots as known (tenant, queue, min_slots, max_slots, sets_max, updated_by)
values ($1, $2, $3, $4, $5, $6)
on conflict (tenant, queue) do update set
  min_slots = coalesce(excluded.min_slots, known.min_slots),
  max_slots = case when excluded.sets_max then excluded.max_slots else known.max_slots end,
  sets_max = known.sets_max or excluded.sets_max,
  updated_at = now(),
  updated_by = excluded.updated_by;
