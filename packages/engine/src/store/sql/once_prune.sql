-- Forget keys whose time is over. One that a live run still holds stays, and so does a step whose job is still known.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: the keys forgotten.
-- Locks:   those rows, skipping locked ones
-- Index:   once_key_for_prune_idx, job_pkey, for steps also job_archive_by_id_idx and dead_letter_by_job_idx; then by position: the rows are locked, so they stay where they are.
delete from millrace.once_key
where ctid = any(array(
  select held.ctid
  from millrace.once_key as held
  where held.expires_at <= coalesce($1, now())
    and (
      held.state = 'done'
      or not exists (
        select from millrace.job where job.id = held.job_id and job.run_id = held.run_id and job.status = 'processing'
      )
    )
    and case when held.scope = '$step:' || held.job_id
      then not exists (select from millrace.job where job.id = held.job_id)
        and not exists (select from millrace.job_archive as ended where ended.id = held.job_id)
        and not exists (
          select from millrace.dead_letter_jobs as letter where letter.job_id = held.job_id and letter.status = 'pending'
        )
      else true end
  order by held.expires_at
  limit $2
  for update skip locked
))
returning key;
