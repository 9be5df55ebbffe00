-- Put off the end of steps whose job is still known: it lives, is in the archive, or can be redriven. They are looked at
-- again in a day, or when the archive has forgotten the job.
-- Params:  $1 now timestamptz or null, $2 limit int, $3 retentions text[], $4 days int[] that the archive keeps those
-- Returns: the keys put off.
-- Locks:   those rows, skipping locked ones
-- Index:   once_key_for_prune_idx, job_pkey, job_archive_by_id_idx, dead_letter_by_job_idx; then by position: the rows are
--          locked, so they stay where they are.
-- What is not put off, once_prune.sql forgets.
with due as materialized (
  select held.ctid as position, held.job_id
  from millrace.once_key as held
  where held.expires_at <= coalesce($1, now())
    and held.scope = '$step:' || held.job_id
  order by held.expires_at
  limit $2
  for update skip locked
),
known as materialized (
  select due.position, coalesce(
      (select coalesce($1, now()) + interval '1 day' from millrace.job where job.id = due.job_id),
      (select coalesce($1, now()) + interval '1 day' from millrace.dead_letter_jobs as letter
       where letter.job_id = due.job_id and letter.status = 'pending' limit 1),
      (select greatest(
         ended.finished_at + (($4::int[])[array_position($3::text[], ended.retention)] + 1) * interval '1 day',
         coalesce($1, now()) + interval '1 hour'
       )
       from millrace.job_archive as ended where ended.id = due.job_id limit 1)
    ) as look_at
  from due
)
update millrace.once_key
set expires_at = known.look_at
from known
where once_key.ctid = known.position
  and known.look_at is not null
returning once_key.key;
