-- Append a line to the notes of these letters, with its time and author.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 by text, $4 note text
-- Returns: id, tenant of the letters that are there.
-- Locks:   those letters, in id order; waits for somebody who is just changing one.
-- Index:   dead_letter_jobs_pkey
with found as materialized (
  select id
  from millrace.dead_letter_jobs
  where id = any($2::bigint[])
  order by id
  for no key update
)
update millrace.dead_letter_jobs as letter
set notes = concat_ws(e'\n', notes, concat(
  to_char(coalesce($1, now()) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ' ', $3::text, ': ', $4::text))
from found
where letter.id = found.id
returning letter.id, letter.tenant;
