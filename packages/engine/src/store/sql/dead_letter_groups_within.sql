-- As dead_letter_groups.sql, among the letters of a queue, a type or a tenant.
-- Params:  $1 limit int; each of these or null: $2 queue, $3 type, $4 tenant
-- Returns: the largest groups first, each with the message of its newest letter.
-- Locks:   none
-- Index:   dead_letter_by_status_idx, all pending ones; dead_letter_jobs_pkey
with grouped as (
  select fingerprint, type, count(*)::int as pending, min(died_at) as first_died_at, max(died_at) as last_died_at,
    max(id) as newest_id
  from millrace.dead_letter_jobs
  where status = 'pending'
    and ($2::text is null or queue = $2)
    and ($3::text is null or type = $3)
    and ($4::text is null or tenant = $4)
  group by fingerprint, type
  order by pending desc, newest_id desc
  limit $1
)
select grouped.fingerprint, grouped.type, grouped.pending, grouped.first_died_at, grouped.last_died_at, grouped.newest_id,
  newest.error_message as sample_message
from grouped
join millrace.dead_letter_jobs as newest on newest.id = grouped.newest_id
order by grouped.pending desc, grouped.newest_id desc;
