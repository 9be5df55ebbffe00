-- Ask the workers of running jobs to stop them. The request stays on the row: a job that comes back ends as cancelled.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 reason text: the first one stands
-- Returns: id, worker_id, tenant of the jobs that were asked, now or before.
-- Locks:   those job rows
-- Index:   job_pkey
update millrace.job
set cancel_requested_at = coalesce(cancel_requested_at, $1, now()), cancel_reason = coalesce(cancel_reason, $3),
    updated_at = coalesce($1, now())
where id = any($2::bigint[])
  and status = 'processing'
returning id, worker_id, tenant;
