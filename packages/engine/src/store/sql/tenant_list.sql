-- Tenants, by name.
-- Params:  $1 names text[] or null, $2 status text or null, $3 behind: name text or null, $4 limit int
-- Returns: the tenants.
-- Locks:   none
-- Index:   tenant_pkey
select name, status, weight, min_slots, max_slots, reason, created_at, updated_at, updated_by
from millrace.tenant
where ($1::text[] is null or name = any($1))
  and ($2::text is null or status = $2)
  and ($3::text is null or name > $3)
order by name
limit $4;
