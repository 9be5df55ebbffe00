-- End a lease: one's own, or that of a process known to be gone.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 reason text
-- Returns: id, if it was not ended before.
-- Locks:   the worker's row
-- Index:   worker_pkey
update millrace.worker
set ended_at = coalesce($1, now()), ended_reason = $3
where id = $2
  and ended_at is null
returning id;
