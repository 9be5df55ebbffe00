-- Let the rest of this transaction wait for locks for a second at most: a tick that waits for a key would hold up others.
-- Params:  none
-- Returns: nothing of interest.
-- Locks:   none
-- Index:   none
select set_config('lock_timeout', '1s', true);
