-- Settle runs whose job has failed for good: archive, last attempt and dead letter are written together;
-- if its death stops its order key, that too; and if its queue declares an escalation, a row of the outbox.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], in order and none twice, $3 run_ids uuid[], $4 reasons text[],
--          $5 error_classes text[], $6 error_messages text[], $7 error_stacks text[], $8 fingerprints text[], $9 logs jsonb[], $10 retentions text[],
--          $11 drops bool[]: the contract says such a job may be dropped, so no dead letter
-- Returns: the ids whose fence held.
-- Locks:   those job rows, in the order of their ids.
-- Index:   job_pkey. The case keeps the planner off job_running_idx, where it would read every running job.
--          No join with unnest, for the same reason as in job_finish.sql: width_bucket is an id's position among the ids.
--          dead_letter_by_redriven_job_idx: the letter this job came from, to count its redrives on.
--          catalogue_entry_pkey: what its queue declares.
with buried as (
  delete from millrace.job
  where job.id = any($2::bigint[])
    and run_id = ($3::uuid[])[width_bucket(id, $2)]
    and case status when 'processing' then true else false end
  returning job.*,
    ($4::text[])[width_bucket(id, $2)] as reason,
    ($5::text[])[width_bucket(id, $2)] as error_class,
    ($6::text[])[width_bucket(id, $2)] as error_message,
    ($7::text[])[width_bucket(id, $2)] as error_stack,
    ($8::text[])[width_bucket(id, $2)] as fingerprint,
    ($9::jsonb[])[width_bucket(id, $2)] as logs,
    ($10::text[])[width_bucket(id, $2)] as retention,
    ($11::bool[])[width_bucket(id, $2)] as dropped,
    coalesce(job.correlation_id, 'job-' || job.id) as family,
    to_jsonb(job) || jsonb_build_object('correlation_id', coalesce(job.correlation_id, 'job-' || job.id)) as original,
    coalesce($1, now()) as died_at
),
archived as (
  insert into millrace.job_archive (
    id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, finished_at, last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention, dedup_key,
    correlation_id, created_by, trace_parent, reason, last_error, payload
  )
  select
    id, 'dead', type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, died_at, died_at, parent_job_id, workflow_id, run_id, worker_id, retention,
    coalesce(dedup_key, start_key), correlation_id, created_by, trace_parent, reason, error_message, payload
  from buried
  where retention <> 'none'
),
recorded as (
  insert into millrace.job_attempt (
    job_id, attempt, run_id, worker_id, type, queue, started_at, finished_at,
    due_at, error_class, error_message, error_stack, fingerprint, logs, correlation_id
  )
  select
    id, attempt, run_id, worker_id, type, queue, started_at, died_at,
    greatest(run_at, created_at), error_class, error_message, error_stack, fingerprint, logs, family
  from buried
),
lettered as (
  insert into millrace.dead_letter_jobs (
    job_id, type, queue, tenant, correlation_id, reason, attempts, original_job, error_message, error_details,
    fingerprint, died_at, redrive_since, redrives, workflow_id
  )
  select
    id, type, queue, tenant, family, reason, attempt, original, error_message,
    jsonb_build_object('class', error_class, 'stack', error_stack, 'logs', logs), fingerprint, died_at, died_at,
    coalesce((select redrives + 1 from millrace.dead_letter_jobs where redriven_job_id = buried.id), 0),
    workflow_id
  from buried
  where not dropped
),
stopped as (
  insert into millrace.order_stop (queue, tenant, order_key, job_id, stopped_at)
  select distinct on (queue, coalesce(tenant, ''), order_key) queue, coalesce(tenant, ''), order_key, id, died_at
  from buried
  where order_stops and order_key is not null
  on conflict (queue, tenant, order_key) do update set job_id = excluded.job_id, stopped_at = excluded.stopped_at
),
announced as materialized (
  select buried.*, (
    select document -> 'escalation' from millrace.catalogue_entry where kind = 'queue' and name = buried.queue
  ) as policy
  from buried
  where not dropped
),
escalated as (
  insert into millrace.escalation (
    kind, key, severity, queue, type, tenant, job_id, fingerprint, dedup_key, details, policy, created_at
  )
  select
    'dead_job', left(concat_ws('/', 'dead', queue, type, fingerprint), 255), 'error', queue, type, tenant, id,
    fingerprint, coalesce(dedup_key, start_key), jsonb_build_object('reason', reason, 'attempts', attempt), policy, died_at
  from announced
  where jsonb_typeof(policy) in ('string', 'object')
)
select id from buried;
