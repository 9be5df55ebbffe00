-- Ask something of a living worker, or take it back. A request to stop stays: the worker may have begun to stop.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 request text or null, $4 by text, $5 reason text
-- Returns: id, if the worker is alive, reports, and was not asked to stop.
-- Locks:   the worker's row
-- Index:   worker_pkey
update millrace.worker
set request = $3::text,
    requested_by = case when $3::text is not null then $4::text end,
    request_reason = case when $3::text is not null then $5::text end,
    requested_at = case when $3::text is not null then coalesce($1, now()) end
where id = $2
  and ended_at is null
  and expires_at > now()
  and report is not null
  and request is distinct from 'stop'
returning id;
