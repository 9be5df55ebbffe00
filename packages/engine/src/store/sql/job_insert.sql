-- Enqueue a batch of jobs without dedup keys.
-- Params:  $1 now timestamptz or null, $2 types, $3 queues, $4 priorities, $5 payload_versions, $6 max_attempts,
--          $7 payloads as one jsonb array, $8 tenants, $9 run_ats, $10 delays_ms, $11 correlation_ids, $12 parent_job_ids, $13 created_by,
--          $14 trace_parents, $15 channel and $16 messages text[]: what to tell listeners at commit, as notify.sql
--          does; Postgres sends equal messages of one transaction once; $17 workflow_ids.
--          $2 to $6 may hold one element for all rows; $8 to $14 and $17 may be empty, for null in all rows.
-- Returns: the new ids, in the order given.
-- Locks:   none
insert into millrace.job (
  type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, correlation_id, parent_job_id,
  created_by, trace_parent, workflow_id, created_at, updated_at
)
select
  coalesce(type, ($2::text[])[1]), coalesce(queue, ($3::text[])[1]), coalesce(priority, ($4::int[])[1]),
  coalesce(payload_version, ($5::int[])[1]), coalesce(max_attempts, ($6::int[])[1]), payload, tenant,
  case
    when run_at is not null then run_at
    when delay_ms is null then coalesce($1, now())
    else coalesce($1, now()) + delay_ms * interval '1 millisecond'
  end,
  correlation_id, parent_job_id, created_by, trace_parent, workflow_id, coalesce($1, now()), coalesce($1, now())
from (
  select count(pg_notify($15, message)) from unnest($16::text[]) as message where (select pg_notification_queue_usage()) < 0.5
) as told
cross join rows from (
  unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::int[]),
  jsonb_array_elements($7::jsonb),
  unnest($8::text[], $9::timestamptz[], $10::float8[], $11::text[], $12::bigint[], $13::text[], $14::text[],
    $17::bigint[])
) with ordinality as rows (
  type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, delay_ms,
  correlation_id, parent_job_id, created_by, trace_parent, workflow_id, ord
)
order by ord
returning id;
