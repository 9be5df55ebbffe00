-- Give back all jobs of one claim: its reply was lost.
-- Params:  $1 now timestamptz or null, $2 worker_id uuid, $3 run_id uuid
-- Returns: the ids given back.
-- Locks:   those job rows
-- Index:   job_running_idx; job_dedup_idx for those that gave up their dedup key: as in job_requeue.sql, one whose key a
--          newer job holds by now ends as cancelled.
update millrace.job
set status = 'pending', attempt = attempt - 1, deadline_at = null, updated_at = coalesce($1, now()),
    (cancel_requested_at, cancel_reason) = (
      select
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
    )
where worker_id = $2
  and status = 'processing'
  and run_id = $3
returning id;
