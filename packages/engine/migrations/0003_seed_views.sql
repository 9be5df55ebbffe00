-- Views for people who look at jobs with SQL, under names that job tables commonly have.
--
-- Decisions a reader should know:
-- * The views only read. What they show is computed from the tables, so no statement writes anything twice.
-- * Branches are joined by `union all`, and columns that are looked up by are plain columns: conditions on id,
--   type and time reach the indexes of the tables, those on correlation_id the ones of the archive (the live table has
--   none), and a condition on status leaves out the branches that cannot have it. That is why `jobs` reads the live table twice instead of computing 'failed' by a case.
-- * `security_invoker`: whoever reads a view needs the rights, and gets the row security, of the tables below it.

-- A failed attempt knows what it belongs to and when it was due: its job may be gone, or due at another time by now.
-- Attempts that were recorded before have null in both.
alter table millrace.job_attempt
  add column due_at timestamptz,
  add column correlation_id text;

create index job_attempt_by_correlation_idx on millrace.job_attempt (correlation_id);
create index job_attempt_by_type_idx on millrace.job_attempt (type, finished_at);

-- Every job, live or archived. A waiting job whose last attempt failed is shown as 'failed', as millrace.job(id) does.
create view millrace.jobs with (security_invoker = true) as
select
  id, type, payload, status, priority, attempt as attempts, max_attempts, run_at as scheduled_at, run_at, started_at,
  null::timestamptz as completed_at, last_error as error_message, last_error, last_error_at, correlation_id,
  parent_job_id, created_by, dedup_key, created_at, updated_at,
  queue, tenant, null::timestamptz as finished_at, null::text as reason, null::jsonb as result
from millrace.job
where status <> 'pending' or last_error_at is null
union all
select
  id, type, payload, 'failed', priority, attempt, max_attempts, run_at, run_at, started_at,
  null::timestamptz, last_error, last_error, last_error_at, correlation_id,
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
from millrace.job_archive;

-- Live jobs only: without a status, an archived row would look like one that waits.
create view millrace.delayed_jobs with (security_invoker = true) as
select
  job.id, job.queue, job.type as job_type, job.priority, job.payload, job.run_at as scheduled_at,
  case job.status when 'processing' then job.started_at end as locked_at,
  case job.status when 'processing' then worker.host end as locked_by,
  job.attempt as attempts, job.max_attempts, job.last_error, job.created_at
from millrace.job
left join millrace.worker on worker.id = job.worker_id;

-- The dead letters in the shape of delayed_jobs: a job keeps its id when it dies.
create view millrace.delayed_jobs_dlq with (security_invoker = true) as
select
  job_id as id, queue, type as job_type, (original_job ->> 'priority')::integer as priority,
  original_job -> 'payload' as payload, (original_job ->> 'run_at')::timestamptz as scheduled_at,
  null::timestamptz as locked_at, null::text as locked_by,
  attempts, (original_job ->> 'max_attempts')::integer as max_attempts, error_message as last_error,
  (original_job ->> 'created_at')::timestamptz as created_at,
  died_at as failed_at, id as dead_letter_id, reason, status
from millrace.dead_letter_jobs;

-- The dead letters as a document type, with capitalised statuses: Pending, Retried, Resolved, Ignored.
create view millrace.background_job_dlq with (security_invoker = true) as
select
  id::text as name, job_id, type as job_method, tenant as organization, queue,
  left(error_message, 2000) as failure_reason, original_job -> 'payload' as job_data, died_at as failed_at,
  greatest(attempts - 1, 0) as retry_count, initcap(status) as status, notes as resolution_notes
from millrace.dead_letter_jobs;

-- background_job_dlq: how many are Pending, which were Resolved before a certain day.
create index dead_letter_by_shown_status_idx on millrace.dead_letter_jobs (initcap(status), died_at);

-- One row per execution that has ended; `id` is the job's. The last run of a dead job is one of its failed attempts,
-- so its archive row is left out. A job that was cancelled while it waited has no started_at: no run ended with it.
create view millrace.job_metrics with (security_invoker = true) as
select
  id, type as job_type, status,
  (extract(epoch from finished_at - started_at) * 1000)::bigint as duration_ms,
  (extract(epoch from started_at - greatest(created_at, run_at)) * 1000)::bigint as queue_time_ms,
  correlation_id, finished_at as recorded_at, queue, attempt, run_id
from millrace.job_archive
where status <> 'dead' and started_at is not null
union all
select
  job_id, type, 'failed',
  (extract(epoch from finished_at - started_at) * 1000)::bigint,
  (extract(epoch from started_at - due_at) * 1000)::bigint,
  correlation_id, finished_at, queue, attempt, run_id
from millrace.job_attempt;

-- The backlog and the dead letters that nobody has dealt with, by type and status. The archive is left out: the view
-- costs as much as there is to do, whatever the history.
create view millrace.job_queue_health with (security_invoker = true) as
select
  type, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
  count(*) as count, min(created_at) as oldest,
  count(*) filter (where status = 'pending' and run_at <= now()) as due,
  min(run_at) filter (where status = 'pending' and run_at <= now()) as due_since,
  min(started_at) filter (where status = 'processing') as running_since
from millrace.job
group by 1, 2
union all
select type, 'dead', count(*), min(died_at), 0::bigint, null::timestamptz, null::timestamptz
from millrace.dead_letter_jobs
where status = 'pending'
group by type;
