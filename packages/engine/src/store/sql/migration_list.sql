-- The ledger: every migration this schema has seen.
-- Params:  none
-- Returns: version, name, checksum, is_breaking, applied_at (null: begun and not finished), duration_ms
-- Locks:   none
-- Index:   migration_pkey
select version, name, checksum, breaking as is_breaking, applied_at, duration_ms
from millrace.migration
order by version;
