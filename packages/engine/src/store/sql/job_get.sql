-- One job, live or archived, as people see it: a waiting job whose last attempt failed is shown as 'failed'.
-- Params:  $1 id bigint
-- Returns: at most one row.
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx, job_progress_pkey
select
  id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
  type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id, worker_id,
  started_at, null::timestamptz as finished_at, coalesce(dedup_key, start_key) as dedup_key,
  coalesce(correlation_id, 'job-' || id) as correlation_id,
  parent_job_id, workflow_id, created_by, trace_parent, last_error,
  last_error_at, null::text as reason, null::jsonb as result, created_at,
  (
    select jsonb_build_object('done', done, 'total', total, 'note', note, 'at', updated_at)
    from millrace.job_progress
    where job_id = job.id and run_id = job.run_id and job.status = 'processing'
  ) as progress,
  null::jsonb as logs
from millrace.job
where id = $1
union all
select
  id, status, type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id,
  worker_id, started_at, finished_at, dedup_key, coalesce(correlation_id, 'job-' || id) as correlation_id,
  parent_job_id, workflow_id, created_by, trace_parent, last_error, last_error_at,
  reason, result, created_at, null::jsonb as progress, logs
from millrace.job_archive
where id = $1
limit 1;
