-- Forget workers that ended long ago. A running row without a worker counts as an orphan, so nothing depends on them.
-- Params:  $1 now timestamptz or null, $2 age_ms float8
-- Returns: the ids forgotten.
-- Locks:   those worker rows, skipping locked ones
-- Index:   none: the table has a row per process.
delete from millrace.worker
where id in (
  select id
  from millrace.worker
  where ended_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  order by id
  limit 1000
  for update skip locked
)
returning id;
