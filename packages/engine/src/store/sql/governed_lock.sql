-- Lock what a governed claim counts and spends, if nobody else is at it: a queue, and the limits its jobs share with others.
-- Params:  $1 keys bigint[], ascending
-- Returns: one row: is_mine
-- Locks:   advisory, until the transaction ends; never waits.
select coalesce(bool_and(pg_try_advisory_xact_lock(key)), true) as is_mine
from unnest($1::bigint[]) as key;
