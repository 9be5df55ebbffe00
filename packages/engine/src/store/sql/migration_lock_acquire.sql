-- Take the migrators' lease if it is free, expired, or already ours.
-- Params:  $1 owner uuid, $2 ttl_ms float8
-- Returns: owner; no row: another migrator holds it.
-- Locks:   the lease row
-- Index:   migration_lock_pkey
insert into millrace.migration_lock as held (owner, expires_at)
values ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
on conflict (only_row) do update
set owner = excluded.owner, expires_at = excluded.expires_at
where held.owner = excluded.owner
   or held.expires_at <= clock_timestamp()
returning owner;
