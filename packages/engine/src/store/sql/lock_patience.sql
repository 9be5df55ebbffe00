-- Let the rest of a transaction wait for each lock for so long at most, or as long as it is set to if that is shorter.
-- Params:  $1 lock_timeout_ms int
-- Returns: before, the setting as it was, for lock_patience_end.sql.
-- Locks:   none
-- Index:   none
with setting as materialized (
  select current_setting('lock_timeout') as before
)
select
  before,
  set_config('lock_timeout', case
    when before::interval > interval '0' and before::interval < $1::int * interval '1 millisecond' then before
    else $1::int || 'ms'
  end, true)
from setting;
