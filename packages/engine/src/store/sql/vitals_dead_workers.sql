-- Workers that ended of late without having stopped in order.
-- Params:  $1 span_ms float8: how far back to look
-- Returns: id, host, pid, ended_at, reason
-- Locks:   none
-- Index:   none: the table has a row per process.
-- On the database's own clock, as every lease. worker.ts writes the two reasons that are left out.
select id, host, pid, ended_at, ended_reason as reason
from millrace.worker
where ended_at > now() - $1::float8 * interval '1 millisecond'
  and ended_reason <> 'shut down'
  and ended_reason not like 'stopped, as %'
order by ended_at, id;
