-- Take back what was done since savepoint.sql: the transaction goes on as if it had not been.
-- Params:  none
-- Returns: nothing
-- Locks:   none; those taken since are released.
-- Index:   none
rollback to savepoint millrace;
