-- Every job of a type, live or archived, newest first, as people see it (see job_get.sql). For millrace/testing only.
-- Params:  $1 type text
-- Returns: as job_get.sql, a row per job.
-- Locks:   none
-- Index:   job_archive_by_type_idx; the tables of tests are small.
select
  id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
  type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id, worker_id,
  started_at, null::timestamptz as finished_at, dedup_key, correlation_id, parent_job_id, created_by, last_error,
  last_error_at, null::text as reason, null::jsonb as result, created_at
from millrace.job
where type = $1
union all
select
  id, status, type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id,
  worker_id, started_at, finished_at, dedup_key, correlation_id, parent_job_id, created_by, last_error, last_error_at,
  reason, result, created_at
from millrace.job_archive
where type = $1
order by id desc;
