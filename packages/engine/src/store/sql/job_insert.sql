-- Enqueue a batch. A row whose dedup key is held by a live job is left out, and the caller reads the holder.
-- Params:  $1 now timestamptz or null, $2 types, $3 queues, $4 tenants, $5 priorities, $6 payloads, $7 payload_versions,
--          $8 run_ats or nulls, $9 delays_ms, $10 max_attempts, $11 dedup_keys, $12 correlation_ids, $13 parent_job_ids,
--          $14 created_by, $15 trace_parents, $16 lock_timeout_ms: how long a key held by an open transaction is waited for,
--          $17 channel and $18 payloads text[]: what to tell listeners at commit; Postgres sends equal messages of one
--          transaction once
-- Returns: ord (position in the input, from 1) and the new id, or null where the key was taken.
-- Locks:   waits for a transaction that holds one of the keys, at most lock_timeout.
-- Index:   job_dedup_idx
with input as materialized (
  select nextval('millrace.job_id_seq') as id, coalesce($1, now()) as now, rows.*
  from (select set_config('lock_timeout', $16::text, true) where $16::text is not null) as patience
  right join unnest(
    $2::text[], $3::text[], $4::text[], $5::int[], $6::jsonb[], $7::int[], $8::timestamptz[], $9::float8[], $10::int[],
    $11::text[], $12::text[], $13::bigint[], $14::text[], $15::text[]
  ) with ordinality as rows (
    type, queue, tenant, priority, payload, payload_version, run_at, delay_ms, max_attempts,
    dedup_key, correlation_id, parent_job_id, created_by, trace_parent, ord
  ) on true
),
inserted as (
  insert into millrace.job (
    id, type, queue, tenant, priority, payload, payload_version, run_at, max_attempts,
    dedup_key, correlation_id, parent_job_id, created_by, trace_parent, created_at, updated_at
  )
  select
    id, type, queue, tenant, priority, payload, payload_version,
    coalesce(run_at, now + delay_ms * interval '1 millisecond'), max_attempts,
    dedup_key, correlation_id, parent_job_id, created_by, trace_parent, now, now
  from input
  order by ord
  on conflict (tenant, type, dedup_key) where dedup_key is not null do nothing
  returning id
)
select input.ord::int, inserted.id
from (select count(pg_notify($17, payload)) from unnest($18::text[]) as payload) as told
cross join input
left join inserted using (id)
order by input.ord;
