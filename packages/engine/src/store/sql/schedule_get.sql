-- Schedules, as far as ticks and changes need to know them.
-- Params:  $1 now timestamptz or null, $2 names text[]
-- Returns: those that exist, and `now`.
-- Locks:   none
-- Index:   schedule_pkey
select name, job_type, source, cadence, timing, edited_timing, options, payload, next_at, last_fire_at,
  paused_at, paused_until, paused_by, pause_reason, revision, coalesce($1, clock_timestamp()) as now
from millrace.schedule
where name = any($2::text[])
order by name;
