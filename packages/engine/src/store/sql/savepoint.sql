-- Begin a part of somebody else's transaction that can be taken back alone.
-- Params:  none
-- Returns: nothing
-- Locks:   none
-- Index:   none
savepoint millrace;
