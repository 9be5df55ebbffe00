-- Give back all jobs of one claim: its reply was lost.
-- Params:  $1 now timestamptz or null, $2 worker_id uuid, $3 run_id uuid
-- Returns: the ids given back.
-- Locks:   those job rows
-- Index:   job_running_idx
update millrace.job
set status = 'pending', attempt = attempt - 1, deadline_at = null, updated_at = coalesce($1, now())
where worker_id = $2
  and status = 'processing'
  and run_id = $3
returning id;
