-- The pending letters, counted by what they have in common: the failure and the type of the job.
-- Params:  $1 limit int
-- Returns: the largest groups first, each with the message of its newest letter.
-- Locks:   none
-- Index:   dead_letter_for_groups_idx, all of it; dead_letter_jobs_pkey
with grouped as (
  select fingerprint, type, count(*)::int as pending, min(died_at) as first_died_at, max(died_at) as last_died_at,
    max(id) as newest_id
  from millrace.dead_letter_jobs
  where status = 'pending'
  group by fingerprint, type
  order by pending desc, newest_id desc
  limit $1
)
select grouped.fingerprint, grouped.type, grouped.pending, grouped.first_died_at, grouped.last_died_at, grouped.newest_id,
  newest.error_message as sample_message
from grouped
join millrace.dead_letter_jobs as newest on newest.id = grouped.newest_id
order by grouped.pending desc, grouped.newest_id desc;
