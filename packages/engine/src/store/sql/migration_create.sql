-- The ledger's table. Outside the numbered migrations because it must exist before the first of them.
-- Params:  none
-- Returns: nothing
-- Locks:   none that matter; several migrators at once may collide, and the caller tries again.
-- Index:   none
create table if not exists millrace.migration (
  version     integer primary key,
  name        text not null,
  checksum    text not null,
  breaking    boolean not null,
  applied_at  timestamptz,   -- null: begun outside a transaction and not finished
  duration_ms integer
);
