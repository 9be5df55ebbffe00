-- Forget archived jobs that ended long ago, before the archive would. Jobs of workflows stay: they go with their workflow.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 types text[] or null for every type, $4 statuses text[], $5 limit int,
--          $6 after id bigint: the cursor, so that a batch does not walk over the entries that earlier ones have left dead
-- Returns: count, and the last id forgotten: the next cursor.
-- Locks:   those rows
-- Index:   job_archive_by_id_idx of the partitions that are old enough, or job_archive_by_type_idx for types with few jobs
with gone as (
  delete from millrace.job_archive
  where finished_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
    and id = any(array(
      select id
      from millrace.job_archive
      where finished_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
        and ($3::text[] is null or type = any($3))
        and status = any($4::text[])
        and workflow_id is null
        and id > $6::bigint
      order by id
      limit $5
    ))
  returning id
)
select count(*)::int as count, max(id) as last
from gone;
