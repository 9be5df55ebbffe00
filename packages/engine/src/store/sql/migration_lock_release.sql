-- Give the lease back. The row goes, so that a renewal still under way cannot revive it.
-- Params:  $1 owner uuid
-- Returns: nothing
-- Locks:   the lease row
-- Index:   migration_lock_pkey
delete from millrace.migration_lock
where owner = $1;
