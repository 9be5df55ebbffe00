-- Enter a migration in the ledger before its SQL runs: another migrator at the same version waits here, then sees it.
-- Params:  $1 version, $2 name, $3 checksum, $4 breaking, $5 owner uuid of the lease
-- Returns: version; no row: the lease is no longer ours, or the migration is already applied.
-- Locks:   the ledger row, until the transaction ends
-- Index:   migration_pkey, migration_lock_pkey
insert into millrace.migration as entry (version, name, checksum, breaking)
select $1::int, $2, $3, $4::boolean
where exists (select from millrace.migration_lock where owner = $5::uuid and expires_at > clock_timestamp())
on conflict (version) do update
set name = excluded.name, checksum = excluded.checksum, breaking = excluded.breaking
where entry.applied_at is null   -- begun outside a transaction by a migrator that did not finish
returning version;
