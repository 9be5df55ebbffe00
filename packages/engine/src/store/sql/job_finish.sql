-- Settle runs that ended for good without failing: completed, or cancelled on purpose. The rows move to the archive.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 run_ids uuid[]: the different ones, $4 runs int[]: which of them
--          each id belongs to, from 1; $5 statuses text[] and $6 retentions text[] ('none' keeps nothing): one element may
--          stand for all; $7 results jsonb[] and $8 reasons text[] (null of a cancelled one: why it was asked to stop): may
--          be empty
-- Returns: the ids whose fence held. A missing id belongs to another run by now, or was settled before.
-- Locks:   those job rows, in the order given: pass them sorted by id.
-- Index:   job_pkey. The case keeps the planner off job_running_idx, where it would read every running job,
--          and from expecting next to no rows, which made it join by nested loops.
with finished as (
  delete from millrace.job
  using unnest($2::bigint[], $4::int[], $5::text[], $6::text[], $7::jsonb[], $8::text[])
    as mine (id, run, final_status, retention, result, reason)
  where job.id = any($2::bigint[])
    and job.id = mine.id
    and job.run_id = ($3::uuid[])[mine.run]
    and case job.status when 'processing' then true else false end
  returning job.*, coalesce(mine.final_status, ($5::text[])[1]) as final_status,
    coalesce(mine.retention, ($6::text[])[1]) as retention, mine.result, mine.reason
),
archived as (
  insert into millrace.job_archive (
    id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, finished_at, last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention, dedup_key,
    correlation_id, created_by, trace_parent, reason, last_error, payload, result
  )
  select
    id, final_status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, coalesce($1, now()), last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention, dedup_key,
    correlation_id, created_by, trace_parent,
    case final_status when 'cancelled' then coalesce(reason, cancel_reason, 'cancelled on request') else reason end,
    last_error, payload, result
  from finished
  where retention <> 'none'
)
select id from finished;
