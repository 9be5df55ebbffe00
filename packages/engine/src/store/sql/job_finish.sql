-- Settle runs that ended for good without failing: completed, or cancelled on purpose. The rows move to the archive.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], in order and none twice, $3 run_ids uuid[]: the different ones,
--          $4 runs int[]: which of them each id belongs to, from 1; $5 statuses text[] and $6 retentions text[] ('none' keeps
--          nothing): one element may stand for all; $7 results jsonb: an array of [] or [result], or empty; $8 reasons text[]
--          (null of a cancelled one: why it was asked to stop), or empty; $9 logs jsonb: an array of log lines or nulls, or empty
-- Returns: the ids whose fence held. A missing id belongs to another run by now, or was settled before.
-- Locks:   those job rows, in the order of their ids.
-- Index:   job_pkey. The case keeps the planner off job_running_idx, where it would read every running job.
-- width_bucket finds an id's position among the ids by bisection. A join with unnest does the same as long as the planner
-- knows how many rows to expect; with statistics from an empty table it compared every row with every other.
with finished as (
  delete from millrace.job
  where id = any($2::bigint[])
    and run_id = ($3::uuid[])[($4::int[])[width_bucket(id, $2)]]
    and case status when 'processing' then true else false end
  returning job.*,
    coalesce(($5::text[])[width_bucket(id, $2)], ($5::text[])[1]) as final_status,
    coalesce(($6::text[])[width_bucket(id, $2)], ($6::text[])[1]) as retention,
    $7::jsonb -> (width_bucket(id, $2) - 1) -> 0 as result,
    ($8::text[])[width_bucket(id, $2)] as reason,
    nullif($9::jsonb -> (width_bucket(id, $2) - 1), 'null') as logs
),
archived as (
  insert into millrace.job_archive (
    id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, finished_at, last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention, dedup_key,
    correlation_id, created_by, trace_parent, logs, reason, last_error, payload, result
  )
  select
    id, final_status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version, run_at, created_at,
    started_at, coalesce($1, now()), last_error_at, parent_job_id, workflow_id, run_id, worker_id, retention,
    coalesce(dedup_key, start_key), correlation_id, created_by, trace_parent, logs,
    case final_status when 'cancelled' then coalesce(reason, cancel_reason, 'cancelled on request') else reason end,
    last_error, payload, result
  from finished
  where retention <> 'none'
)
select id from finished;
