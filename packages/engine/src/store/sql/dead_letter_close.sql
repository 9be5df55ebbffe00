-- These letters need no more attention: their matter is resolved, or not worth it. A key that such a death has stopped
-- goes on.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 status text: resolved or ignored, $4 by text, $5 note text or null
-- Returns: every letter that is there: whether this changed it, and who decided, when.
-- Locks:   those letters, in id order; waits for somebody who is just changing one.
-- Index:   dead_letter_jobs_pkey, order_stop_by_job_idx
with found as materialized (
  select id, tenant, status, acknowledged_by, acknowledged_at
  from millrace.dead_letter_jobs
  where id = any($2::bigint[])
  order by id
  for no key update
),
changed as (
  update millrace.dead_letter_jobs as letter
  set status = $3, acknowledged = true, acknowledged_by = $4, acknowledged_at = coalesce($1, now()),
      notes = case when $5::text is null then notes
        else concat_ws(e'\n', notes, concat(
          to_char(coalesce($1, now()) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ' ', $4::text, ': ', $5::text)) end
  from found
  where letter.id = found.id
    and found.status <> $3
  returning letter.id, letter.job_id, letter.acknowledged_by, letter.acknowledged_at
),
continued as (
  delete from millrace.order_stop
  where job_id = any(array(select job_id from changed))
)
select found.id, found.tenant, changed.id is not null as is_changed,
  case when changed.id is null then found.acknowledged_by else changed.acknowledged_by end as acknowledged_by,
  case when changed.id is null then found.acknowledged_at else changed.acknowledged_at end as acknowledged_at
from found
left join changed on changed.id = found.id;
