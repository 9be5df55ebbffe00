-- Lock the breaker of a service, to change it: from here to the end of the transaction nobody else does. Its row is made
-- if it has none.
-- Params:  $1 now timestamptz or null, $2 service_name text
-- Returns: the row, and the time by the database's clock, read after the wait.
-- Locks:   the row.
-- Index:   circuit_breakers_pkey
insert into millrace.circuit_breakers as breaker (service_name, updated_at)
values ($2, coalesce($1, now()))
on conflict (service_name) do update set service_name = excluded.service_name
returning service_name, state, failure_count, success_count, last_failure_at, opened_at, open_until, half_opened_at,
  probe_job_id, probe_run_id, failures, open_for_ms, successes, updated_at, coalesce($1, clock_timestamp()) as now;
