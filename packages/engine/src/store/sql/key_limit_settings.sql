-- Every limit that a person has set.
-- Params:  none
-- Returns: queue, key (null: all of the queue), concurrency, set_by, set_at
-- Locks:   none
-- Index:   none: a handful of rows.
select queue, limit_key as key, concurrency, set_by, set_at
from millrace.key_limit_setting
order by queue, limit_key nulls first;
