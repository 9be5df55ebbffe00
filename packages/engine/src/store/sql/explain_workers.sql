-- How many live workers there are, and how many of them have a handler for a type.
-- Params:  $1 type text
-- Returns: one row: live, able
-- Locks:   none
-- Index:   none: there are as many rows as workers.
-- On the database's own clock, as every lease. A worker that has not said its types may be able.
select
  count(*)::int as live,
  count(*) filter (where types is null or $1 = any(types))::int as able
from millrace.worker
where ended_at is null
  and expires_at > now();
