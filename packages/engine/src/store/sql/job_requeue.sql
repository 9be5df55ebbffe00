-- Settle runs whose job goes on waiting: a failed attempt to be retried, a snooze, a give-back, a rescue.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], in order and none twice, $3 run_ids uuid[],
--          $4 delays_ms float8[] (null: it keeps its place), $5 refunds bool[]: the attempt does not count,
--          $6 crashes text[]: 'clear' (an outcome was recorded), 'keep' (it never started), 'count' (its process died),
--          $7 error_classes text[], $8 error_messages text[], $9 error_stacks text[], $10 fingerprints text[],
--          $11 logs jsonb[]: an attempt row is written where error_class is not null
-- Returns: the ids whose fence held.
-- Locks:   those job rows, in the order of their ids.
-- Index:   job_pkey. The case keeps the planner off job_running_idx, where it would read every running job.
--          No join with unnest, for the same reason as in job_finish.sql: width_bucket is an id's position among the ids.
--          job_dedup_idx for the newer holder.
-- run_id stays, so that a repeated flush recognises itself; a rescue clears it, because the run was not its own.
-- All parts of the statement see the rows as they were before it: that is how the attempt learns when it was due.
-- A job that was asked to stop meanwhile is due at once, and ends as cancelled instead of running again. So does one that
-- gave up its dedup key when it started, if a newer job holds it by now: the key is never taken again.
-- The death of a process is an attempt row and no error of the job: it is not shown as failed.
-- One with a limit key leaves its place to others while it waits; one with an order key keeps the others waiting.
with requeued as (
  update millrace.job
  set (status, run_at, cancel_requested_at, cancel_reason) = (
        select
          case when limit_key is not null and delay_ms is not null and cancel_requested_at is null and not is_superseded
            then 'blocked' else 'pending' end,
          case when delay_ms is null or cancel_requested_at is not null or is_superseded
            then least(run_at, coalesce($1, now()))
            else coalesce($1, now()) + delay_ms * interval '1 millisecond' end,
          case when is_superseded then coalesce(cancel_requested_at, $1, now()) else cancel_requested_at end,
          case when is_superseded then coalesce(cancel_reason, 'superseded') else cancel_reason end
        from (
          select ($4::float8[])[width_bucket(job.id, $2)] as delay_ms, job.start_key is not null and (
            exists (
              select from millrace.job as newer
              where newer.tenant = job.tenant and newer.type = job.type and newer.dedup_key = job.start_key and newer.id <> job.id
            )
            or job.tenant is null and exists (
              select from millrace.job as newer
              where newer.tenant is null and newer.type = job.type and newer.dedup_key = job.start_key and newer.id <> job.id
            )
          ) as is_superseded
        ) as standing
      ),
      attempt = attempt - ($5::bool[])[width_bucket(id, $2)]::int,
      crashes = case ($6::text[])[width_bucket(id, $2)] when 'clear' then 0 when 'keep' then crashes else crashes + 1 end,
      run_id = case when ($6::text[])[width_bucket(id, $2)] = 'count' then null else run_id end,
      deadline_at = null,
      first_due_at = coalesce(first_due_at, greatest(run_at, created_at)),
      last_error = case when ($6::text[])[width_bucket(id, $2)] = 'count' then last_error
        else coalesce(($8::text[])[width_bucket(id, $2)], last_error) end,
      last_error_at = case when ($6::text[])[width_bucket(id, $2)] = 'count' or ($8::text[])[width_bucket(id, $2)] is null
        then last_error_at else coalesce($1, now()) end,
      updated_at = coalesce($1, now())
  where job.id = any($2::bigint[])
    and run_id = ($3::uuid[])[width_bucket(id, $2)]
    and case status when 'processing' then true else false end
  returning id, attempt, worker_id, type, queue, started_at, correlation_id, width_bucket(id, $2) as position
),
recorded as (
  insert into millrace.job_attempt (
    job_id, attempt, run_id, worker_id, type, queue, started_at, finished_at,
    due_at, error_class, error_message, error_stack, fingerprint, logs, correlation_id
  )
  select
    id, attempt + ($5::bool[])[position]::int, ($3::uuid[])[position], worker_id, type, queue, started_at, coalesce($1, now()),
    (select greatest(before.run_at, before.created_at) from millrace.job as before where before.id = requeued.id),
    ($7::text[])[position], ($8::text[])[position], ($9::text[])[position], ($10::text[])[position],
    ($11::jsonb[])[position], coalesce(correlation_id, 'job-' || id)
  from requeued
  where ($7::text[])[position] is not null
)
select id from requeued;
