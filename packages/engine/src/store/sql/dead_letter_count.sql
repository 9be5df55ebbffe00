-- How many letters wait for a decision? Counts no further than the limit.
-- Params:  $1 limit int
-- Returns: one row: pending
-- Locks:   none
-- Index:   dead_letter_by_status_idx
select count(*)::int as pending
from (
  select
  from millrace.dead_letter_jobs
  where status = 'pending'
  limit $1
) as waiting;
