-- Keep the lease. No row: it was lost. Deliberately does not take it anew: whoever lost it must stop and look again.
-- Params:  $1 owner uuid, $2 ttl_ms float8
-- Returns: owner
-- Locks:   the lease row
-- Index:   migration_lock_pkey
update millrace.migration_lock
set expires_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
where owner = $1
returning owner;
