-- Cancel jobs that wait: they move to the archive at once.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 reason text, $4 types text[], $5 retentions text[] of those types
-- Returns: the ids cancelled, with queue, type and tenant, by which keys, so that there is room for others now, and of which workflow.
-- Locks:   those job rows
-- Index:   job_pkey
-- started_at is archived as null: an earlier run may have set it, but no run ends here.
with cancelled as (
  delete from millrace.job
  where id = any($2::bigint[])
    and status in ('pending', 'blocked')
  returning job.*, coalesce(($5::text[])[array_position($4::text[], type)], 'standard') as retention
),
archived as (
  insert into millrace.job_archive (
    id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, finished_at, last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention, dedup_key,
    correlation_id, created_by, trace_parent, reason, last_error, payload
  )
  select
    id, 'cancelled', type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    null, coalesce($1, now()), last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention,
    coalesce(dedup_key, start_key), correlation_id, created_by, trace_parent, $3, last_error, payload
  from cancelled
  where retention <> 'none'
)
select id, queue, type, tenant, order_key, limit_key, tenant_jobs, workflow_id from cancelled;
