-- Before a redrive: whoever holds these letters alone decides whether a job takes their place.
-- Params:  $1 ids bigint[]
-- Returns: the letters as they are now, in id order.
-- Locks:   those letters, in id order; the second of two operators waits here, and then sees what the first one did.
-- Index:   dead_letter_jobs_pkey, workflow_pkey
select
  id, status, acknowledged, acknowledged_by, redriven_job_id, workflow_id,
  (select workflow.status from millrace.workflow where workflow.id = workflow_id) as workflow_status
from millrace.dead_letter_jobs
where id = any($1::bigint[])
order by id
for no key update;
