-- Settle runs whose job goes on waiting: a failed attempt to be retried, a snooze, a give-back, a rescue.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 run_ids uuid[], $4 delays_ms float8[] (null: it keeps its place),
--          $5 refunds bool[]: the attempt does not count,
--          $6 crashes text[]: 'clear' (an outcome was recorded), 'keep' (it never started), 'count' (its process died),
--          $7 error_classes text[], $8 error_messages text[], $9 error_stacks text[], $10 fingerprints text[],
--          $11 logs jsonb[]: an attempt row is written where error_class is not null
-- Returns: the ids whose fence held.
-- Locks:   those job rows, in the order given: pass them sorted by id.
-- Index:   job_pkey. The case keeps the planner off job_running_idx, where it would read every running job,
--          and from expecting next to no rows, which made it join by nested loops. job_dedup_idx for the newer holder.
-- run_id stays, so that a repeated flush recognises itself; a rescue clears it, because the run was not its own.
-- All parts of the statement see the rows as they were before it: that is how the attempt learns when it was due.
-- A job that was asked to stop meanwhile is due at once, and ends as cancelled instead of running again. So does one that
-- gave up its dedup key when it started, if a newer job holds it by now: the key is never taken again.
-- One with a limit key leaves its place to others while it waits; one with an order key keeps the others waiting.
with mine as (
  select *
  from unnest($2::bigint[], $3::uuid[], $4::float8[], $5::bool[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::jsonb[])
    as mine (id, run_id, delay_ms, refund, crash, error_class, error_message, error_stack, fingerprint, logs)
),
requeued as (
  update millrace.job
  set (status, run_at, cancel_requested_at, cancel_reason) = (
        select
          case when limit_key is not null and mine.delay_ms is not null and cancel_requested_at is null and not is_superseded
            then 'blocked' else 'pending' end,
          case when mine.delay_ms is null or cancel_requested_at is not null or is_superseded
            then least(run_at, coalesce($1, now()))
            else coalesce($1, now()) + mine.delay_ms * interval '1 millisecond' end,
          case when is_superseded then coalesce(cancel_requested_at, $1, now()) else cancel_requested_at end,
          case when is_superseded then coalesce(cancel_reason, 'superseded') else cancel_reason end
        from (
          select job.start_key is not null and (
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
      attempt = attempt - mine.refund::int,
      crashes = case mine.crash when 'clear' then 0 when 'keep' then crashes else crashes + 1 end,
      run_id = case when mine.crash = 'count' then null else job.run_id end,
      deadline_at = null,
      last_error = coalesce(mine.error_message, last_error),
      last_error_at = case when mine.error_message is null then last_error_at else coalesce($1, now()) end,
      updated_at = coalesce($1, now())
  from mine
  where job.id = any($2::bigint[])
    and job.id = mine.id
    and job.run_id = mine.run_id
    and case job.status when 'processing' then true else false end
  returning job.id, job.attempt, job.worker_id, job.type, job.queue, job.started_at, job.correlation_id, mine.run_id,
    mine.error_class, mine.error_message, mine.error_stack, mine.fingerprint, mine.logs
),
recorded as (
  insert into millrace.job_attempt (
    job_id, attempt, run_id, worker_id, type, queue, started_at, finished_at,
    due_at, error_class, error_message, error_stack, fingerprint, logs, correlation_id
  )
  select
    id, attempt, run_id, worker_id, type, queue, started_at, coalesce($1, now()),
    (select greatest(before.run_at, before.created_at) from millrace.job as before where before.id = requeued.id),
    error_class, error_message, error_stack, fingerprint, logs, correlation_id
  from requeued
  where error_class is not null
)
select id from requeued;
