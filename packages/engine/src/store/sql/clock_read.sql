-- What time is it, by the clock that decides?
-- Params:  $1 now timestamptz or null
-- Returns: now
-- Locks:   none
-- Index:   none
select coalesce($1::timestamptz, clock_timestamp()) as now;
