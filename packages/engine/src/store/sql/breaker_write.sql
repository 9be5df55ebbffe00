-- Write what a breaker has become.
-- Params:  $1 now timestamptz or null, $2 service_name text, $3 state text, $4 failure_count int, $5 success_count int,
--          $6 last_failure_at, $7 opened_at, $8 open_until, $9 half_opened_at timestamptz, $10 probe_job_id bigint, $11 probe_run_id uuid
-- Returns: nothing.
-- Locks:   the row, which breaker_lock.sql holds already.
-- Index:   circuit_breakers_pkey
update millrace.circuit_breakers
set state = $3, failure_count = $4, success_count = $5, last_failure_at = $6, opened_at = $7, open_until = $8,
    half_opened_at = $9, probe_job_id = $10, probe_run_id = $11, updated_at = coalesce($1, now())
where service_name = $2;
