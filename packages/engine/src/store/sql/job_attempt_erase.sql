-- Take the texts and log lines out of the failed attempts of these jobs; the rows stay.
-- Params:  $1 ids of jobs bigint[]
-- Returns: the ids of the jobs, once for each attempt that was not erased before.
-- Locks:   those rows
-- Index:   job_attempt_by_job_idx
update millrace.job_attempt
set error_message = '[erased]', error_stack = null, logs = null
where job_id = any($1::bigint[])
  and error_message <> '[erased]'
returning job_id;
