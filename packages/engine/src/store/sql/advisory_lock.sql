-- Have an advisory lock until this transaction ends.
-- Params:  $1 key bigint
-- Returns: nothing of interest.
-- Locks:   that one; waits for whoever has it.
select pg_advisory_xact_lock($1::bigint);
