-- Renew a lease. No row: it was ended, and there is no way back under this id.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 ttl_ms float8
-- Returns: id
-- Locks:   the worker's row
-- Index:   worker_pkey
update millrace.worker
set heartbeat_at = coalesce($1, now()), expires_at = coalesce($1, now()) + $3::float8 * interval '1 millisecond'
where id = $2
  and ended_at is null
returning id;
