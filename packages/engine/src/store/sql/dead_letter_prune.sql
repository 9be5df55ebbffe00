-- Forget letters that were resolved or ignored long ago. Pending and retried ones stay for ever.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int
-- Returns: the ids forgotten.
-- Locks:   those letters, skipping locked ones
-- Index:   dead_letter_for_prune_idx, then dead_letter_jobs_pkey. An array, because the planner may run a sub-select of
--          `in` again for every letter of the table.
delete from millrace.dead_letter_jobs
where id = any(array(
  select id
  from millrace.dead_letter_jobs
  where status in ('resolved', 'ignored')
    and acknowledged_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  order by acknowledged_at
  limit $3
  for update skip locked
))
returning id;
