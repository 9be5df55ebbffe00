-- Somebody has seen these letters. Nothing else changes.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 by text
-- Returns: every letter that is there: whether this changed it, and who acknowledged it, when.
-- Locks:   those letters, in id order; waits for somebody who is just changing one.
-- Index:   dead_letter_jobs_pkey
with found as materialized (
  select id, tenant, acknowledged, acknowledged_by, acknowledged_at
  from millrace.dead_letter_jobs
  where id = any($2::bigint[])
  order by id
  for no key update
),
changed as (
  update millrace.dead_letter_jobs as letter
  set acknowledged = true, acknowledged_by = $3, acknowledged_at = coalesce($1, now())
  from found
  where letter.id = found.id
    and not found.acknowledged
  returning letter.id, letter.acknowledged_by, letter.acknowledged_at
)
select found.id, found.tenant, changed.id is not null as is_changed,
  case when changed.id is null then found.acknowledged_by else changed.acknowledged_by end as acknowledged_by,
  case when changed.id is null then found.acknowledged_at else changed.acknowledged_at end as acknowledged_at
from found
left join changed on changed.id = found.id;
