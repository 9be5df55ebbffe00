-- Enqueue a batch of which some have keys. A row whose dedup key is held is left out, and the caller reads the holder; one
-- with an order or limit key, or of a tenant whose excess is deferred, is written as blocked, and the admitter decides. Apart from job_insert.sql because what looks
-- after conflicts costs every row as much again.
-- Params:  $1 to $16 as in job_insert.sql, $17 dedup_keys,
--          $18 lock_timeout_ms: how long a key held by an open transaction is waited for, $19 order_keys,
--          $20 order_stops bool[], $21 limit_keys, $22 limit_concurrencies int[], $23 ids bigint[] taken before by
--          job_ids.sql; each of these five may be empty, for null in all rows, and so may $26 workflow_ids and
--          $27 tenant_jobs int[]: such a job is written as deferred,
--          $24 until_start bool: the dedup keys are held only until the jobs start,
--          $25 window_ms float8 or null: for so long the dedup keys are held, whatever becomes of the jobs
-- Returns: ord (position in the input, from 1) and the new id, or null where the key was taken. With a window also
--          must_go: another transaction opened a window for this key while the statement ran, and its job has ended; the
--          caller withdraws the new one in the same transaction.
-- Locks:   waits for a transaction that holds one of the keys, at most lock_timeout: its job's key first, then the window's.
-- Index:   job_dedup_idx, dedup_window_idx
with input as materialized (
  select coalesce(given_id, nextval('millrace.job_id_seq')) as id, coalesce($1, now()) as now, rows.*
  from (select set_config('lock_timeout', $18::text, true) where $18::text is not null) as patience
  right join rows from (
    unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::int[]),
    jsonb_array_elements($7::jsonb),
    unnest($8::text[], $9::timestamptz[], $10::float8[], $11::text[], $12::bigint[], $13::text[], $14::text[], $17::text[],
      $19::text[], $20::bool[], $21::text[], $22::int[], $23::bigint[], $26::bigint[], $27::int[])
  ) with ordinality as rows (
    type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, delay_ms,
    correlation_id, parent_job_id, created_by, trace_parent, dedup_key,
    order_key, order_stops, limit_key, limit_concurrency, given_id, workflow_id,
    tenant_jobs, ord
  ) on true
),
inserted as (
  insert into millrace.job (
    id, type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, dedup_key, start_key,
    correlation_id, parent_job_id, created_by, trace_parent, created_at, updated_at, status, order_key, order_stops,
    limit_key, limit_concurrency, workflow_id, tenant_jobs, deferred_keys
  )
  select
    id, coalesce(type, ($2::text[])[1]), coalesce(queue, ($3::text[])[1]), coalesce(priority, ($4::int[])[1]),
    coalesce(payload_version, ($5::int[])[1]), coalesce(max_attempts, ($6::int[])[1]), payload, tenant,
    coalesce(run_at, now + coalesce(delay_ms, 0) * interval '1 millisecond'), dedup_key,
    case when $24::bool then dedup_key end, correlation_id, parent_job_id, created_by, trace_parent, now, now,
    case when coalesce(order_key, limit_key) is null and tenant_jobs is null then 'pending' else 'blocked' end,
    case when tenant_jobs is null then order_key end, order_stops, case when tenant_jobs is null then limit_key end,
    limit_concurrency, workflow_id, tenant_jobs, case when tenant_jobs is not null then array[order_key, limit_key] end
  from input
  where $25::float8 is null
    or not exists (
      select from millrace.dedup_window as past
      where past.type = coalesce(input.type, ($2::text[])[1])
        and past.dedup_key = input.dedup_key
        and past.tenant is not distinct from input.tenant
        and past.expires_at > input.now
    )
  order by ord
  on conflict (tenant, type, dedup_key) where dedup_key is not null do nothing
  returning id, tenant, type, dedup_key, created_at
),
windowed as (
  insert into millrace.dedup_window as past (tenant, type, dedup_key, job_id, expires_at)
  select tenant, type, dedup_key, id, created_at + $25::float8 * interval '1 millisecond'
  from inserted
  where $25::float8 is not null
    and dedup_key is not null
  on conflict (type, dedup_key, tenant) do update
  set job_id = excluded.job_id, expires_at = excluded.expires_at
  where past.expires_at <= coalesce($1, now())
  returning job_id
)
select
  input.ord::int, inserted.id,
  $25::float8 is not null and inserted.dedup_key is not null and windowed.job_id is null as must_go
from (
  select count(pg_notify($15, message)) from unnest($16::text[]) as message where (select pg_notification_queue_usage()) < 0.5
) as told
cross join input
left join inserted using (id)
left join windowed on windowed.job_id = inserted.id
order by input.ord;
