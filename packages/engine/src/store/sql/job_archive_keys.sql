-- Under which keys the sensitive values of archived jobs are encrypted, page by page.
-- Params:  $1 after id bigint, $2 limit int
-- Returns: id and the ids of the keys as jsonb, one for each value of payload and result; [] for a row that has none.
-- Locks:   none
-- Index:   job_archive_by_id_idx, of all partitions in turn
select id, jsonb_path_query_array(jsonb_build_array(payload, result), 'strict $.**."$encrypted".key', '{}', true) as keys
from millrace.job_archive
where id > $1
order by id
limit $2;
