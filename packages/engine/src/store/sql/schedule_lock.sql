-- Schedules that are about to be changed, in one order for everybody.
-- Params:  $1 now timestamptz or null, $2 names text[]
-- Returns: those that exist, and `now`.
-- Locks:   their rows, until the transaction ends, or has been idle for two seconds: nobody could tick them meanwhile
-- Index:   schedule_pkey
select name, job_type, source, cadence, timing, edited_timing, options, payload, next_at, last_fire_at,
  paused_at, paused_until, paused_by, pause_reason, revision, coalesce($1, clock_timestamp()) as now,
  set_config('idle_in_transaction_session_timeout', '2s', true) as patience
from millrace.schedule
where name = any($2::text[])
order by name
for update;
