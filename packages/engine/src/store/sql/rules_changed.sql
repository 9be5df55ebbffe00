-- Tell every claim that the rules it remembers are old: in the transaction that changes one.
-- Params:  none
-- Returns: nothing.
-- Locks:   the one row.
update millrace.rules_version
set version = version + 1;
