-- Set at run time what a breaker goes by; null: as the code says.
-- Params:  $1 now timestamptz or null, $2 service_name text, $3 failures int, $4 open_for_ms float8, $5 successes int
-- Returns: nothing.
-- Locks:   the row, which breaker_lock.sql holds already.
-- Index:   circuit_breakers_pkey
update millrace.circuit_breakers
set failures = $3, open_for_ms = $4, successes = $5, updated_at = coalesce($1, now())
where service_name = $2;
