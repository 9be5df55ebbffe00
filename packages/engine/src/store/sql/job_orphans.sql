-- Running jobs whose worker holds no lease any more. To be settled in the same transaction.
-- Params:  $1 limit int
-- Returns: id, run_id, type, queue, crashes, cancel_requested, workflow_id, worker_id; host, pid and ended_reason of the worker: null if
--          it is forgotten; attempt, tenant, started_at, trace_parent and correlation_id, for the span of the run
-- Locks:   those job rows, in id order, skipping what somebody is settling right now.
-- Index:   job_running_idx, worker_pkey, then job_pkey. Found without an order and locked by id: asked for both at once,
--          a planner that believes the table to be empty walks over all of job_pkey.
-- The condition on the run is one on the job's own row: if the row changed between snapshot and lock, because another
-- rescuer was faster and a living worker has claimed the job since, Postgres checks it again, and that run is not in the
-- list. A run_id is never used twice, and an ended lease never comes back.
with orphaned as materialized (
  select running.id, running.run_id
  from millrace.job as running
  where running.status = 'processing'
    and not exists (
      select from millrace.worker
      where worker.id = running.worker_id
        and worker.ended_at is null
    )
)
select
  job.id, job.run_id, job.type, job.queue, job.crashes, job.cancel_requested_at is not null as cancel_requested, job.workflow_id,
  job.worker_id, worker.host, worker.pid, worker.ended_reason, job.attempt, job.tenant, job.started_at, job.trace_parent,
  coalesce(job.correlation_id, 'job-' || job.id) as correlation_id
from millrace.job
left join millrace.worker on worker.id = job.worker_id
where job.status = 'processing'
  and job.id = any(array(select id from orphaned))
  and job.run_id = any(array(select distinct run_id from orphaned))
order by job.id
limit $1
for no key update of job skip locked;
