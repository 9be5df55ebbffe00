-- What the database believes this worker is running, for reconciliation with its memory.
-- Params:  $1 worker_id uuid, $2 within_s float8: how long ago the oldest of its runs can have started, or null
-- Returns: id, run_id, queue, cancel_requested, age_s since its start
-- Locks:   none
-- Index:   job_running_idx, from that start on: the entries of ended runs may be dead and still there
select id, run_id, queue, cancel_requested_at is not null as cancel_requested,
  date_part('epoch', now() - started_at) as age_s
from millrace.job
where worker_id = $1
  and status = 'processing'
  and started_at >= coalesce(now() - $2::float8 * interval '1 second', '-infinity');
