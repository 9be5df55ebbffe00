-- Before a job is failed by hand: make a waiting one a run of its own, and lock the run of a running one. The same
-- transaction settles it, so no other ever sees the run that this begins.
-- Params:  $1 now timestamptz or null, $2 id bigint
-- Returns: the run that is to be settled, `holder`: the worker that runs the job, and what settling it needs to know.
--          No row: the job is over, or there is none.
-- Locks:   that job row; waits for a claim or settlement that is under way.
-- Index:   job_pkey
with found as materialized (
  select id, status as was
  from millrace.job
  where id = $2::bigint
  for no key update
)
update millrace.job
set status = 'processing',
    attempt = case when status = 'processing' then attempt else attempt + 1 end,
    run_id = case when status = 'processing' then run_id else gen_random_uuid() end,
    worker_id = case when status = 'processing' then job.worker_id end,
    started_at = case when status = 'processing' then started_at else coalesce($1, now()) end,
    dedup_key = nullif(dedup_key, start_key),
    parked_until = null,
    order_key = coalesce(order_key, deferred_keys[1]), limit_key = coalesce(limit_key, deferred_keys[2]), deferred_keys = null,
    updated_at = coalesce($1, now())
from found
where job.id = found.id
returning job.id, run_id, job.worker_id as holder, type, queue, tenant, attempt, max_attempts, workflow_id, order_key, limit_key,
  tenant_jobs, found.was = 'blocked' as was_blocked;
