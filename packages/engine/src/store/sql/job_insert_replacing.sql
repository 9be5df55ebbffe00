-- Enqueue a batch under dedup keys, no key twice. Where a job that has never started holds the key, it takes over
-- everything that is given and keeps its id and the time it was first enqueued.
-- Params:  $1 to $18 as in job_insert_keyed.sql, $19 until_start bool: the keys are held only until the jobs start,
--          $20 max_wait_ms float8 or null: how far beyond the first enqueue the start can be put off,
--          $21 tenant_jobs int[], empty for null in all rows: a new job with one is written as deferred
-- Returns: ord (position in the input, from 1), id of the job that does the work, is_new; id is null where the key is
--          held by a job that has started.
-- Locks:   those job rows, or waits for a transaction that holds one of the keys, at most lock_timeout.
-- Index:   job_dedup_idx
-- A holder that is claimed meanwhile and frees its key no longer stands in the way: Postgres then looks for a conflict anew.
with input as materialized (
  select nextval('millrace.job_id_seq') as id, coalesce($1, now()) as now, rows.*
  from (select set_config('lock_timeout', $18::text, true) where $18::text is not null) as patience
  right join rows from (
    unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::int[]),
    jsonb_array_elements($7::jsonb),
    unnest($8::text[], $9::timestamptz[], $10::float8[], $11::text[], $12::bigint[], $13::text[], $14::text[], $17::text[], $21::int[])
  ) with ordinality as rows (
    type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, delay_ms,
    correlation_id, parent_job_id, created_by, trace_parent, dedup_key, tenant_jobs, ord
  ) on true
),
written as (
  insert into millrace.job as held (
    id, type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, dedup_key, start_key,
    correlation_id, parent_job_id, created_by, trace_parent, created_at, updated_at, status, tenant_jobs,
    deferred_keys
  )
  select
    id, coalesce(type, ($2::text[])[1]), coalesce(queue, ($3::text[])[1]), coalesce(priority, ($4::int[])[1]),
    coalesce(payload_version, ($5::int[])[1]), coalesce(max_attempts, ($6::int[])[1]), payload, tenant,
    least(
      coalesce(run_at, now + coalesce(delay_ms, 0) * interval '1 millisecond'),
      now + $20::float8 * interval '1 millisecond'
    ), dedup_key, case when $19::bool then dedup_key end, correlation_id, parent_job_id, created_by, trace_parent, now, now,
    case when tenant_jobs is null then 'pending' else 'blocked' end, tenant_jobs,
    case when tenant_jobs is not null then array[null, null]::text[] end
  from input
  order by ord
  on conflict (tenant, type, dedup_key) where dedup_key is not null do update
  set queue = excluded.queue, priority = excluded.priority, payload_version = excluded.payload_version,
      max_attempts = excluded.max_attempts, payload = excluded.payload, start_key = excluded.start_key,
      run_at = least(excluded.run_at, held.created_at + $20::float8 * interval '1 millisecond'),
      correlation_id = excluded.correlation_id, parent_job_id = excluded.parent_job_id,
      created_by = excluded.created_by, trace_parent = excluded.trace_parent, updated_at = excluded.updated_at
  where held.started_at is null
  returning id, tenant, type, dedup_key
)
select input.ord::int, written.id, written.id = input.id as is_new
from (
  select count(pg_notify($15, message)) from unnest($16::text[]) as message where (select pg_notification_queue_usage()) < 0.5
) as told
cross join input
left join written on written.dedup_key = input.dedup_key
  and written.type = coalesce(input.type, ($2::text[])[1])
  and written.tenant is not distinct from input.tenant
order by input.ord;
