-- Say who makes the changes of this transaction: the history of the jobs that it changes names them.
-- Params:  $1 by text
-- Returns: the name.
-- Locks:   nothing.
-- Index:   none
select set_config('millrace_history.actor', $1, true) as by;
