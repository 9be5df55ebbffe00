-- Which of these jobs are still waiting or running?
-- Params:  $1 ids bigint[]
-- Returns: id and type of the live ones, and of those that run how far they say they are.
-- Locks:   none
-- Index:   job_pkey, job_progress_pkey
select id, type,
  (
    select jsonb_build_object('done', done, 'total', total, 'note', note, 'at', updated_at)
    from millrace.job_progress
    where job_id = job.id and run_id = job.run_id and job.status = 'processing'
  ) as progress
from millrace.job
where id = any($1::bigint[]);
