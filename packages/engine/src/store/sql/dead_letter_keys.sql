-- Under which keys the sensitive values of dead letters are encrypted, page by page.
-- Params:  $1 after id bigint, $2 limit int
-- Returns: id and the ids of the keys as jsonb, one for each value; [] for a row that has none; is_unbound: one
--          of them is bound to no owner yet.
-- Locks:   none
-- Index:   dead_letter_jobs_pkey
select id, jsonb_path_query_array(original_job->'payload', 'strict $.**."$encrypted".key', '{}', true) as keys,
  jsonb_path_exists(original_job->'payload', 'lax $.**."$encrypted" ? (!exists(@.owner))', '{}', true) as is_unbound
from millrace.dead_letter_jobs
where id > $1
order by id
limit $2;
