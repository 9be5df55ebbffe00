-- What became of the jobs of a bulk operation, in the order of their ids.
-- Params:  $1 id bigint, $2 outcome or null for all, $3 after job_id bigint, $4 limit int
-- Returns: job_id, outcome, reason, before, new_job_id
-- Locks:   none
-- Index:   bulk_item_pkey
select job_id, outcome, reason, before, new_job_id
from millrace.bulk_item
where operation_id = $1
  and ($2::text is null or outcome = $2)
  and job_id > $3
order by job_id
limit $4;
