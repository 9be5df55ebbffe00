-- Write what a change has made of a schedule that is locked, or that nobody has changed since.
-- Params:  $1 now timestamptz or null, $2 name, $3 revision, $4 job_type, $5 cadence jsonb, $6 timing jsonb, $7 edited_timing
--          jsonb or null, $8 options jsonb, $9 payload jsonb or null, $10 next_at timestamptz or null, $11 paused_at, $12
--          paused_until, $13 paused_by, $14 pause_reason, each or null, $15 author
-- Returns: its name; no row if it has another revision.
-- Locks:   its row
-- Index:   schedule_pkey
update millrace.schedule
set job_type = $4, cadence = $5, timing = $6, edited_timing = $7, options = $8, payload = $9, next_at = $10,
  paused_at = $11, paused_until = $12, paused_by = $13, pause_reason = $14,
  updated_at = coalesce($1, clock_timestamp()), updated_by = $15, revision = revision + 1
where name = $2
  and revision = $3
returning name;
