-- Whether the archive has few jobs of these types.
-- Params:  $1 types text[], $2 many int
-- Returns: one row: is_few
-- Locks:   none
-- Index:   job_archive_by_type_idx
select count(*) < $2::int as is_few
from (
  select
  from millrace.job_archive
  where type = any($1::text[])
  limit $2::int
) as found;
