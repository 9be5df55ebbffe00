-- Runs beyond twice their timeout: those that still go on, and those that were ended for it of late.
-- Params:  $1 now timestamptz or null, $2 span_ms float8: how far back to look for ended ones, $3 limit int of each kind
-- Returns: job_id, type, queue, tenant, at (when it was ended, or should have been), has_ended
-- Locks:   none
-- Index:   job_running_idx, dead_letter_by_shown_status_idx. Of the letters of a storm only the last ten thousand are looked at.
(
  select id as job_id, type, queue, tenant, deadline_at as at, false as has_ended
  from millrace.job
  where status = 'processing' and deadline_at < coalesce($1, now())
  order by deadline_at
  limit $3
)
union all
(
  select job_id, type, queue, tenant, died_at, true
  from (
    select job_id, type, queue, tenant, died_at, reason
    from millrace.dead_letter_jobs
    where initcap(status) = 'Pending' and died_at > coalesce($1, now()) - $2::float8 * interval '1 millisecond'
    order by died_at desc
    limit 10000
  ) as recent
  where reason = 'stuck'
  order by died_at desc
  limit $3
);
