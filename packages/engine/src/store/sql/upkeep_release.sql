-- Let others take tasks at once: this process stops.
-- Params:  $1 tasks text[]
-- Returns: nothing.
-- Locks:   those upkeep rows, for the moment.
-- Index:   upkeep_pkey
update millrace.upkeep
set started_at = '-infinity'
where task = any($1::text[]);
