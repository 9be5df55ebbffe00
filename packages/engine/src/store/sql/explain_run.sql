-- The worker of a run, and how long nothing was heard of it.
-- Params:  $1 worker_id uuid
-- Returns: at most one row: host, pid, silent_ms, lease_ms, expires_at, has_expired, ended_reason; null: its lease was not ended
-- Locks:   none
-- Index:   worker_pkey
-- On the database's own clock, as every lease.
select
  host, pid, date_part('epoch', now() - heartbeat_at) * 1000 as silent_ms,
  date_part('epoch', expires_at - heartbeat_at) * 1000 as lease_ms, expires_at, expires_at < now() as has_expired,
  case when ended_at is not null then coalesce(ended_reason, 'ended') end as ended_reason
from millrace.worker
where id = $1;
