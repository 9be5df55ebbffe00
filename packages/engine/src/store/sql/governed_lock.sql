-- Lock what a governed claim counts and spends, if nobody else is at it: a queue, and the limits its jobs share with others.
-- Params:  $1 keys bigint[], ascending
-- Returns: one row: is_mine
-- Locks:   advisory, until the transaction ends; never waits. A process that is frozen in the middle of its claim, or whose
--          machine is gone, loses them with its connection after two idle seconds: nobody else could claim meanwhile.
select coalesce(bool_and(pg_try_advisory_xact_lock(key)), true) as is_mine,
  set_config('idle_in_transaction_session_timeout', '2s', true) as patience
from unnest($1::bigint[]) as key;
