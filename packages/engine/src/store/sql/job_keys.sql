-- Under which keys the sensitive values of live jobs are encrypted, page by page.
-- Params:  $1 after id bigint, $2 limit int
-- Returns: id and the ids of the keys as jsonb, one for each value; [] for a row that has none.
-- Locks:   none
-- Index:   job_pkey
select id, jsonb_path_query_array(payload, 'strict $.**."$encrypted".key', '{}', true) as keys
from millrace.job
where id > $1
order by id
limit $2;
