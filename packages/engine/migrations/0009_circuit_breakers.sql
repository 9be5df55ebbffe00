-- Circuit breakers: what all workers know together about the health of a service. A row appears with the first failure or
-- the first setting; a service without one is closed. Nobody writes here while calls succeed.
create table millrace.circuit_breakers (
  service_name    text primary key,
  state           text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  -- Consecutive failures while closed; successful probes while half-open.
  failure_count   integer not null default 0,
  success_count   integer not null default 0,
  last_failure_at timestamptz,
  opened_at       timestamptz,
  -- When the next probe may run. Null while open: only when somebody resets it.
  open_until      timestamptz,
  half_opened_at  timestamptz,
  -- The run that tries the service while half-open. It counts only while that job is processing under that run_id.
  probe_job_id    bigint,
  probe_run_id    uuid,
  -- Set at run time, instead of what the code says.
  failures        integer check (failures > 0),
  open_for_ms     double precision check (open_for_ms > 0),
  successes       integer check (successes > 0),
  updated_at      timestamptz not null default now()
);
