-- Forget how far runs were whose process died, and what was written just when a run ended.
-- Params:  $1 limit int
-- Returns: nothing
-- Locks:   those rows, skipping locked ones
-- Index:   job_progress is as small as the number of runs; job_pkey
delete from millrace.job_progress
where job_id = any(array(
  select job_id
  from millrace.job_progress
  where not exists (
    select from millrace.job
    where job.id = job_progress.job_id and job.run_id = job_progress.run_id and job.status = 'processing'
  )
  limit $1 for update skip locked
));
