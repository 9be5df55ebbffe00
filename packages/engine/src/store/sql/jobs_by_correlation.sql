-- The jobs of one correlation id, live and archived, in order of creation.
-- Params:  $1 correlation_id text, $2 root bigint: the job whose own id this is, or null, $3 limit int
-- Returns: as job_get.sql
-- Locks:   none
-- Index:   job_archive_standard_correlation_idx, job_archive_long_correlation_idx, job_archive_by_id_idx. None on job and in the short archive,
--          on purpose: writing an index entry per job costs more than reading the backlog now and then.
select
  id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
  type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id, worker_id,
  started_at, null::timestamptz as finished_at, coalesce(dedup_key, start_key) as dedup_key,
  coalesce(correlation_id, 'job-' || id) as correlation_id,
  parent_job_id, workflow_id, created_by, trace_parent, last_error,
  last_error_at, null::text as reason, null::jsonb as result, created_at
from millrace.job
where correlation_id = $1 or (id = $2 and correlation_id is null)
union all
select
  id, status, type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id,
  worker_id, started_at, finished_at, dedup_key, coalesce(correlation_id, 'job-' || id) as correlation_id,
  parent_job_id, workflow_id, created_by, trace_parent, last_error, last_error_at,
  reason, result, created_at
from millrace.job_archive
where correlation_id = $1 or (id = $2 and correlation_id is null)
order by created_at, id
limit $3;
