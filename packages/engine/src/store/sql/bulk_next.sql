-- The next jobs of a bulk operation whose turn has come.
-- Params:  $1 id bigint, $2 limit int
-- Returns: job_id, before; the oldest jobs first
-- Locks:   none
-- Index:   bulk_item_open_idx
select job_id, before
from millrace.bulk_item
where operation_id = $1 and outcome is null
order by job_id
limit $2;
