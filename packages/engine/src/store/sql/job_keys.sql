-- Under which keys the sensitive values of live jobs are encrypted, page by page.
-- Params:  $1 after id bigint, $2 limit int
-- Returns: id and the ids of the keys as jsonb, one for each value; [] for a row that has none; is_unbound: one
--          of them is bound to no owner yet.
-- Locks:   none
-- Index:   job_pkey
select id, jsonb_path_query_array(payload, 'strict $.**."$encrypted".key', '{}', true) as keys,
  jsonb_path_exists(payload, 'lax $.**."$encrypted" ? (!exists(@.owner))', '{}', true) as is_unbound
from millrace.job
where id > $1
order by id
limit $2;
