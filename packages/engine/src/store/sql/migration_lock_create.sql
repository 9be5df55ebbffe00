-- The table of the migrators' lease: no row, or the one row of whoever migrates.
-- Params:  none
-- Returns: nothing
-- Locks:   none that matter; several migrators at once may collide, and the caller tries again.
-- Index:   none
create table if not exists millrace.migration_lock (
  only_row   boolean primary key default true check (only_row),
  owner      uuid not null,
  expires_at timestamptz not null
);
