-- Every type about whose history somebody decided, or that a worker has declared.
-- Params:  none
-- Returns: type, is_on, set_by, set_at
-- Locks:   none
-- Index:   none: a handful of rows.
select type, is_on, set_by, set_at
from millrace.history_setting
order by type;
