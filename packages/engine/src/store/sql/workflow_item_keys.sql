-- Under which keys the sensitive values that workflows hand on are encrypted, page by page.
-- Params:  $1 after job_id bigint, $2 limit int
-- Returns: id of the job that was given or returned them, and the ids of the keys as jsonb, one for each value; [] for none; is_unbound: one
--          of them is bound to no owner yet.
-- Locks:   none
-- Index:   workflow_item_by_job_idx
select
  job_id as id, jsonb_path_query_array(jsonb_build_array(payload, result), 'strict $.**."$encrypted".key', '{}', true) as keys,
  jsonb_path_exists(jsonb_build_array(payload, result), 'lax $.**."$encrypted" ? (!exists(@.owner))', '{}', true) as is_unbound
from millrace.workflow_item
where job_id > $1
order by job_id
limit $2;
