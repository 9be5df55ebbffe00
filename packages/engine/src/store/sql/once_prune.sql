-- Forget keys whose time is over. One that a live run still holds stays.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: the keys forgotten.
-- Locks:   those rows, skipping locked ones
-- Index:   once_key_for_prune_idx, job_pkey; then by position: the rows are locked, so they stay where they are.
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
  order by held.expires_at
  limit $2
  for update skip locked
))
returning key;
