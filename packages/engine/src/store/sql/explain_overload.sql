-- Which live workers let a queue yield, and why.
-- Params:  $1 queue text
-- Returns: why, since, by worker, longest first
-- Locks:   none
-- Index:   none: there are as many rows as workers.
-- On the database's own clock, as every lease.
select overload ->> 'why' as why, (overload ->> 'since')::timestamptz as since
from millrace.worker
where ended_at is null
  and expires_at > now()
  and overload -> 'queues' ? $1
order by since;
