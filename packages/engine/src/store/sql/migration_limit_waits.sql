-- How long the rest of this transaction may wait for a lock, and run. Local to it, so that no pooler passes it on.
-- Params:  $1 lock_timeout, $2 statement_timeout, both as text with a unit
-- Returns: nothing of use
-- Locks:   none
-- Index:   none
select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true);
