-- Under which keys the recorded results of ctx.once and ctx.step are encrypted, page by page.
-- Params:  $1 after job_id bigint, $2 limit int
-- Returns: id of the job that recorded them and the ids of the keys as jsonb, one for each value; [] if it has none.
-- Locks:   none
-- Index:   once_key_by_job_idx
select job_id as id, jsonb_path_query_array(jsonb_agg(result), 'strict $.**."$encrypted".key', '{}', true) as keys
from millrace.once_key
where job_id > $1
group by job_id
order by job_id
limit $2;
