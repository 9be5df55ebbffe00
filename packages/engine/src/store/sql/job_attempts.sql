-- The failed attempts of one job, oldest first.
-- Params:  $1 job_id bigint
-- Returns: attempt, run_id, worker_id, started_at, finished_at, error_class, error_message, error_stack,
--          fingerprint, logs
-- Locks:   none
-- Index:   job_attempt_by_job_idx
select attempt, run_id, worker_id, started_at, finished_at, error_class, error_message, error_stack, fingerprint,
  logs
from millrace.job_attempt
where job_id = $1
order by finished_at;
