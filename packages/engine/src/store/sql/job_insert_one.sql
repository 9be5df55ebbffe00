-- Enqueue a single job without a dedup key: the arrays of job_insert.sql take longer to unfold than one row to write.
-- Params:  $1 now timestamptz or null, $2 type, $3 queue, $4 priority, $5 payload_version, $6 max_attempts, $7 payload jsonb,
--          $8 tenant, $9 run_at, $10 delay_ms, $11 correlation_id, $12 parent_job_id, $13 created_by, $14 trace_parent,
--          $15 channel and $16 message: what to tell listeners at commit, as notify.sql does, or nulls; $17 workflow_id
-- Returns: the new id
-- Locks:   none
insert into millrace.job (
  type, queue, priority, payload_version, max_attempts, payload, tenant, run_at, correlation_id, parent_job_id,
  created_by, trace_parent, workflow_id, created_at, updated_at
)
values (
  $2::text, $3::text, $4::int, $5::int, $6::int, $7::jsonb, $8::text,
  coalesce($9::timestamptz, coalesce($1::timestamptz, now()) + coalesce($10::float8, 0) * interval '1 millisecond'),
  $11::text, $12::bigint, $13::text, $14::text, $17::bigint, coalesce($1::timestamptz, now()), coalesce($1::timestamptz, now())
)
returning id, case
  when $15::text is not null and pg_notification_queue_usage() < 0.5 then pg_notify($15, $16::text)::text
end as told;
