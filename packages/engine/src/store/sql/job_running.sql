-- What the database believes this worker is running, for reconciliation with its memory.
-- Params:  $1 worker_id uuid
-- Returns: id, run_id, queue, cancel_requested
-- Locks:   none
-- Index:   job_running_idx
select id, run_id, queue, cancel_requested_at is not null as cancel_requested
from millrace.job
where worker_id = $1
  and status = 'processing';
