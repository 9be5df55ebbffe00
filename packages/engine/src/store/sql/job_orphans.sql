-- Running jobs whose worker holds no lease any more. To be settled in the same transaction.
-- Params:  $1 limit int
-- Returns: id, run_id, type, queue, crashes, cancel_requested
-- Locks:   those job rows, in id order, skipping what somebody is settling right now.
-- Index:   job_running_idx, worker_pkey
-- The dead are listed first, so that the condition is one on the job's own row: if the row changed between snapshot and
-- lock, because another rescuer was faster and a living worker has claimed the job since, Postgres checks it again, and
-- that worker is not in the list. An ended lease never comes back.
select job.id, job.run_id, job.type, job.queue, job.crashes, job.cancel_requested_at is not null as cancel_requested
from millrace.job
where job.status = 'processing'
  and job.worker_id = any(array(
    select running.worker_id
    from millrace.job as running
    where running.status = 'processing'
      and not exists (
        select from millrace.worker
        where worker.id = running.worker_id
          and worker.ended_at is null
      )
    group by running.worker_id
  ))
order by job.id
limit $1
for no key update of job skip locked;
