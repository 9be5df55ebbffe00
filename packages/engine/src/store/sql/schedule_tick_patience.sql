-- Let this transaction wait for locks only so long: a tick that stands in a queue behind others would hold up all schedules.
-- Params:  $1 milliseconds text
-- Returns: nothing of interest.
-- Locks:   none
-- Index:   none
select set_config('lock_timeout', $1, true);
