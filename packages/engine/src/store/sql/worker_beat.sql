-- Renew a lease, and exchange news: what the worker reports, and what was asked of it. No row: the lease was ended, and there is
-- no way back under this id.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 ttl_ms float8, $4 report jsonb or null
-- Returns: id, request, by and reason of the request
-- Locks:   the worker's row
-- Index:   worker_pkey
update millrace.worker
set heartbeat_at = coalesce($1, now()), expires_at = coalesce($1, now()) + $3::float8 * interval '1 millisecond',
    report = coalesce($4::jsonb, report)
where id = $2
  and ended_at is null
returning id, request, requested_by as by, request_reason as reason;
