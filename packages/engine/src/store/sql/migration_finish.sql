-- Mark a migration as applied.
-- Params:  $1 version, $2 duration_ms, $3 owner uuid of the lease
-- Returns: version; no row: the lease is no longer ours, and another migrator may be running it again.
-- Locks:   the ledger row
-- Index:   migration_pkey, migration_lock_pkey
update millrace.migration
set applied_at = clock_timestamp(), duration_ms = $2
where version = $1
  and applied_at is null
  and exists (select from millrace.migration_lock where owner = $3 and expires_at > clock_timestamp())
returning version;
