-- Forget how far runs were that have ended.
-- Params:  $1 ids bigint[], $2 run_ids uuid[]
-- Returns: nothing
-- Locks:   those rows
-- Index:   job_progress_pkey
delete from millrace.job_progress
using unnest($1::bigint[], $2::uuid[]) as mine (id, run_id)
where job_progress.job_id = mine.id
  and job_progress.run_id = mine.run_id;
