-- Forget letters that were resolved or ignored, counted from the death of their job. Pending and retried ones stay.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int
-- Returns: the ids forgotten.
-- Locks:   those letters, skipping locked ones
-- Index:   dead_letter_for_prune_idx, all that were decided about, then dead_letter_jobs_pkey
delete from millrace.dead_letter_jobs
where id = any(array(
  select id
  from millrace.dead_letter_jobs
  where status in ('resolved', 'ignored')
    and died_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  order by acknowledged_at
  limit $3
  for update skip locked
))
returning id;
