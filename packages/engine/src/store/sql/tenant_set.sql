-- Register a tenant, or change what is said about it; null leaves a column as it is.
-- Params:  $1 name text, $2 status text, $3 weight int, $4 min_slots int, $5 max_slots int, $6 unset_max boolean, $7 reason text,
--          $8 actor text
-- Returns: the tenant.
-- Locks:   its row.
insert into millrace.tenant as known (name, status, weight, min_slots, max_slots, reason, updated_by)
values ($1, coalesce($2, 'active'), coalesce($3, 1), coalesce($4, 0), $5, $7, $8)
on conflict (name) do update set
  status = coalesce($2, known.status),
  weight = coalesce($3, known.weight),
  min_slots = coalesce($4, known.min_slots),
  max_slots = case when $6 then null else coalesce($5, known.max_slots) end,
  reason = case when $2::text is null then known.reason else $7 end,
  updated_at = now(),
  updated_by = $8
returning name, status, weight, min_slots, max_slots, reason, created_at, updated_at, updated_by;
