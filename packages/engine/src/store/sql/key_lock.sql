-- Have these keys to oneself until the transaction ends. Whoever admits jobs counts in the statement after this one:
-- the snapshot of this one is older than its locks.
-- Params:  $1 kinds text[], $2 queues text[], $3 tenants text[], $4 keys text[]
-- Returns: nothing of interest.
-- Locks:   an advisory lock per key, all in the order of their numbers; waits for whoever holds one.
-- Index:   none
select pg_advisory_xact_lock(number)
from (
  select distinct hashtextextended(jsonb_build_array(kind, queue, tenant, key)::text, 0) as number
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as wanted (kind, queue, tenant, key)
  order by number
) as sorted;
