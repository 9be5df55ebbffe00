-- Note that the code of a starting worker declares these schedules.
-- Params:  $1 now timestamptz or null, $2 names text[], $3 declared_by text
-- Returns: nothing.
-- Locks:   their rows: call it when they are locked.
-- Index:   schedule_pkey
update millrace.schedule
set declared_at = coalesce($1, clock_timestamp()), declared_by = $3
where name = any($2::text[]);
