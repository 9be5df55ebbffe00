-- Take the next page of a tick that pages through tenants: for a while others leave it alone.
-- Params:  $1 now timestamptz or null, $2 id, $3 who uuid, $4 lease_ms float8
-- Returns: schedule, fire_at, previous_fire_at, origin, lateness_ms, tenant_cursor, jobs, refused; no row: it is done, or somebody else is at it.
-- Locks:   the tick's row
-- Index:   schedule_tick_pkey
update millrace.schedule_tick
set busy_by = $3, busy_until = coalesce($1, clock_timestamp()) + $4::float8 * interval '1 millisecond'
where id = $2
  and outcome = 'running'
  and (busy_until is null or busy_by = $3 or busy_until <= coalesce($1, clock_timestamp()))
returning schedule, fire_at, previous_fire_at, origin, lateness_ms, tenant_cursor, jobs, refused;
