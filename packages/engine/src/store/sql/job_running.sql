-- What the database believes this worker is running, for reconciliation with its memory.
-- Params:  $1 worker_id uuid, $2 since_s float8: when the oldest of its runs can have started, or null
-- Returns: id, run_id, queue, cancel_requested, started_at_s. Times are seconds on the database's clock.
-- Locks:   none
-- Index:   job_running_idx, from that start on: the entries of ended runs may be dead and still there
select id, run_id, queue, cancel_requested_at is not null as cancel_requested,
  date_part('epoch', started_at) as started_at_s
from millrace.job
where worker_id = $1
  and status = 'processing'
  and started_at >= coalesce(to_timestamp($2::float8), '-infinity');
