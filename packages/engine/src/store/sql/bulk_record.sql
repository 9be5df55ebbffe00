-- Write down what became of jobs of a bulk operation.
-- Params:  $1 id bigint, $2 job_ids bigint[], $3 outcomes text[], $4 reasons text[], $5 befores integer[], $6 new_job_ids bigint[]
-- Returns: nothing. The first verdict about a job stands: a run that was taken for dead may come back and find its work done.
-- Locks:   those rows
-- Index:   bulk_item_pkey
update millrace.bulk_item
set outcome = said.outcome, reason = said.reason, before = coalesce(said.before, bulk_item.before), new_job_id = said.new_job_id
from unnest($2::bigint[], $3::text[], $4::text[], $5::integer[], $6::bigint[]) as said (job_id, outcome, reason, before, new_job_id)
where bulk_item.operation_id = $1
  and bulk_item.job_id = said.job_id
  and bulk_item.outcome is null;
