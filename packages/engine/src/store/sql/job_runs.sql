-- The executions of some jobs, in order of their start: those that ended, and those under way.
-- Params:  $1 job_ids bigint[], $2 limit int
-- Returns: job_id, attempt, run_id, worker_id, outcome: 'completed', 'cancelled', 'failed' or 'running', due_at,
--          started_at, finished_at (null: running), error_class and error_message of a failed one
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx, job_attempt_by_job_idx
-- The last run of a dead job is one of its failed attempts. A job cancelled while it waited has no started_at.
select
  id as job_id, attempt, run_id, worker_id, 'running' as outcome, greatest(created_at, run_at) as due_at, started_at,
  null::timestamptz as finished_at, null::text as error_class, null::text as error_message
from millrace.job
where id = any($1::bigint[]) and status = 'processing'
union all
select
  id, attempt, run_id, worker_id, status, greatest(created_at, run_at), started_at, finished_at, null, null
from millrace.job_archive
where id = any($1::bigint[]) and status <> 'dead' and started_at is not null
union all
select
  job_id, attempt, run_id, worker_id, 'failed', due_at, started_at, finished_at, error_class, error_message
from millrace.job_attempt
where job_id = any($1::bigint[])
order by started_at, job_id, attempt
limit $2;
