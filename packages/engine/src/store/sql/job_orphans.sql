-- Running jobs whose worker holds no lease any more. To be settled in the same transaction.
-- Params:  $1 limit int
-- Returns: id, run_id, type, queue, crashes, cancel_requested
-- Locks:   those job rows, in id order, skipping what somebody is settling right now.
-- Index:   job_running_idx, worker_pkey
select job.id, job.run_id, job.type, job.queue, job.crashes, job.cancel_requested_at is not null as cancel_requested
from millrace.job
where job.status = 'processing'
  and not exists (
    select from millrace.worker
    where worker.id = job.worker_id
      and worker.ended_at is null
  )
order by job.id
limit $1
for no key update of job skip locked;
