-- The workers that hold a lease, with their last reports.
-- Params:  none
-- Returns: a row per living worker, oldest first
-- Locks:   none
-- Index:   none: there are as many rows as workers.
-- On the database's own clock, as every lease.
select id, host, pid, version, lanes, to_jsonb(coalesce(types, '{}')) as types, started_at, heartbeat_at, expires_at, report,
  date_part('epoch', now() - heartbeat_at) * 1000 as silent_ms,
  request, requested_by, request_reason, requested_at
from millrace.worker
where ended_at is null
  and expires_at > now()
order by started_at, id;
