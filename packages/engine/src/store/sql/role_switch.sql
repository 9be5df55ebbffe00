-- Change the role of this transaction.
-- Params:  $1 role text; 'none' is the login's own
-- Returns: the role.
-- Locks:   none
-- Index:   none
select set_config('role', $1, true) as role;
