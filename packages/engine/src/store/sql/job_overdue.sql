-- Runs beyond the deadline at which they are called stuck, on workers that have shown life since. To be settled in the
-- same transaction. A worker that fell silent before the deadline may be dead: then its jobs run again, as orphans.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: id, run_id, type, queue, tenant, workflow_id
-- Locks:   those job rows, in id order, skipping what somebody is settling right now.
-- Index:   job_running_idx, worker_pkey, then job_pkey. In two steps, and checked again by run, as in job_orphans.sql.
with overdue as materialized (
  select running.id, running.run_id
  from millrace.job as running
  join millrace.worker on worker.id = running.worker_id
  where running.status = 'processing'
    and running.deadline_at < coalesce($1, now())
    and worker.ended_at is null
    and worker.heartbeat_at > running.deadline_at
)
select job.id, job.run_id, job.type, job.queue, job.tenant, job.workflow_id
from millrace.job
where job.status = 'processing'
  and job.id = any(array(select id from overdue))
  and job.run_id = any(array(select distinct run_id from overdue))
order by job.id
limit $2
for no key update of job skip locked;
