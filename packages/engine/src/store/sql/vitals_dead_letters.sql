-- How many dead letters wait for a decision, and how many of them came within the last hour. Counts no further than the limit.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: one row: pending, last_hour
-- Locks:   none
-- Index:   dead_letter_by_status_idx, dead_letter_by_shown_status_idx
select
  (
    select count(*)::int
    from (select from millrace.dead_letter_jobs where status = 'pending' limit $2) as waiting
  ) as pending,
  (
    select count(*)::int
    from (
      select from millrace.dead_letter_jobs
      where initcap(status) = 'Pending' and died_at > coalesce($1, now()) - interval '1 hour'
      order by died_at
      limit $2
    ) as recent
  ) as last_hour;
