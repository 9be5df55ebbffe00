-- Keep what was done since savepoint.sql, and forget where it began.
-- Params:  none
-- Returns: nothing
-- Locks:   none
-- Index:   none
release savepoint millrace;
