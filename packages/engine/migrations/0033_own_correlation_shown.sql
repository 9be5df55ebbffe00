-- The views show 'job-<id>' for a job that was given no correlation id. It stays null in the tables (see 0005).
--
-- Such rows are branches of their own: a condition on correlation_id still reaches the index of those that were given one.

create or replace view millrace.jobs with (security_invoker = true) as
select
  id, type, payload, status, priority, attempt as attempts, max_attempts, run_at as scheduled_at, run_at, started_at,
  null::timestamptz as completed_at, last_error as error_message, last_error, last_error_at,
  coalesce(correlation_id, 'job-' || id::text) as correlation_id,
  parent_job_id, created_by, dedup_key, created_at, updated_at,
  queue, tenant, null::timestamptz as finished_at, null::text as reason, null::jsonb as result
from millrace.job
where status <> 'pending' or last_error_at is null
union all
select
  id, type, payload, 'failed', priority, attempt, max_attempts, run_at, run_at, started_at,
  null::timestamptz, last_error, last_error, last_error_at, coalesce(correlation_id, 'job-' || id::text),
  parent_job_id, created_by, dedup_key, created_at, updated_at,
  queue, tenant, null::timestamptz, null::text, null::jsonb
from millrace.job
where status = 'pending' and last_error_at is not null
union all
select
  id, type, payload, status, priority, attempt, max_attempts, run_at, run_at, started_at,
  case status when 'completed' then finished_at end, last_error, last_error, last_error_at, correlation_id,
  parent_job_id, created_by, dedup_key, created_at, finished_at,
  queue, tenant, finished_at, reason, result
from millrace.job_archive
where correlation_id is not null
union all
select
  id, type, payload, status, priority, attempt, max_attempts, run_at, run_at, started_at,
  case status when 'completed' then finished_at end, last_error, last_error, last_error_at, 'job-' || id::text,
  parent_job_id, created_by, dedup_key, created_at, finished_at,
  queue, tenant, finished_at, reason, result
from millrace.job_archive
where correlation_id is null;

-- Failed attempts of older workers have null; newer ones write 'job-<id>'.
create or replace view millrace.job_metrics with (security_invoker = true) as
select
  id, type as job_type, status,
  (extract(epoch from finished_at - started_at) * 1000)::bigint as duration_ms,
  (extract(epoch from started_at - greatest(created_at, run_at)) * 1000)::bigint as queue_time_ms,
  correlation_id, finished_at as recorded_at, queue, attempt, run_id
from millrace.job_archive
where status <> 'dead' and started_at is not null and correlation_id is not null
union all
select
  id, type, status,
  (extract(epoch from finished_at - started_at) * 1000)::bigint,
  (extract(epoch from started_at - greatest(created_at, run_at)) * 1000)::bigint,
  'job-' || id::text, finished_at, queue, attempt, run_id
from millrace.job_archive
where status <> 'dead' and started_at is not null and correlation_id is null
union all
select
  job_id, type, 'failed',
  (extract(epoch from finished_at - started_at) * 1000)::bigint,
  (extract(epoch from started_at - due_at) * 1000)::bigint,
  correlation_id, finished_at, queue, attempt, run_id
from millrace.job_attempt
where correlation_id is not null
union all
select
  job_id, type, 'failed',
  (extract(epoch from finished_at - started_at) * 1000)::bigint,
  (extract(epoch from started_at - due_at) * 1000)::bigint,
  'job-' || job_id::text, finished_at, queue, attempt, run_id
from millrace.job_attempt
where correlation_id is null;
