-- Jobs, live and archived, newest first.
-- Params:  $1 status, $2 queue, $3 type, $4 tenant, $5 correlation_id: each null for any; $6 before id bigint or null, $7 limit,
--          $8 root bigint: the job whose own correlation id $5 is, or null
-- Returns: as job_get.sql
-- Locks:   none
-- Index:   job_pkey and job_archive_by_id_idx, both backwards; what the filters leave out is walked over
(
  select
    id, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
    type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id, worker_id,
    started_at, null::timestamptz as finished_at, coalesce(dedup_key, start_key) as dedup_key,
    coalesce(correlation_id, 'job-' || id) as correlation_id,
    parent_job_id, workflow_id, created_by, last_error,
    last_error_at, null::text as reason, null::jsonb as result, created_at
  from millrace.job
  where ($1::text is null or case when status = 'pending' and last_error_at is not null then 'failed' else status end = $1)
    and ($2::text is null or queue = $2)
    and ($3::text is null or type = $3)
    and ($4::text is null or tenant = $4)
    and ($5::text is null or correlation_id = $5 or (id = $8 and correlation_id is null))
    and ($6::bigint is null or id < $6)
  order by id desc
  limit $7
)
union all
(
  select
    id, status, type, queue, tenant, priority, payload, payload_version, run_at, attempt, max_attempts, crashes, run_id,
    worker_id, started_at, finished_at, dedup_key, coalesce(correlation_id, 'job-' || id) as correlation_id,
    parent_job_id, workflow_id, created_by, last_error, last_error_at,
    reason, result, created_at
  from millrace.job_archive
  where ($1::text is null or status = $1)
    and ($2::text is null or queue = $2)
    and ($3::text is null or type = $3)
    and ($4::text is null or tenant = $4)
    and ($5::text is null or correlation_id = $5 or (id = $8 and correlation_id is null))
    and ($6::bigint is null or id < $6)
  order by id desc
  limit $7
)
order by id desc
limit $7;
