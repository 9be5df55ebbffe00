-- Let a transaction wait for locks as long as before lock_patience.sql.
-- Params:  $1 before text
-- Returns: nothing of interest.
-- Locks:   none
-- Index:   none
select set_config('lock_timeout', $1::text, true);
