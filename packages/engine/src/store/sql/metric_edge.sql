-- The time, and up to where minutes have been summed up by the hour.
-- Params:  $1 now timestamptz or null
-- Returns: one row: now, rolled_up_until (null: nothing is)
-- Locks:   none
-- Index:   metric_hour_pkey
select coalesce($1, now()) as now, max(hour) + interval '1 hour' as rolled_up_until
from millrace.metric_hour;
