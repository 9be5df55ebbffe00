-- Payloads and results that workflows hand on and that are about to be encrypted anew.
-- Params:  $1 job_ids bigint[]
-- Returns: id of the job, workflow_id, tenant of the workflow, workflow, step, kind, payload, result; type, null if the job is forgotten.
-- Locks:   those items, in the order of their jobs
-- Index:   workflow_item_by_job_idx, workflow_pkey, workflow_step_pkey, job_pkey, job_archive_by_id_idx, dead_letter_by_job_idx
select
  item.job_id as id, item.workflow_id, workflow.tenant, workflow.name as workflow, step.name as step, item.kind,
  item.payload, item.result, coalesce(
    (select type from millrace.job where id = item.job_id),
    (select type from millrace.job_archive where id = item.job_id limit 1),
    (select type from millrace.dead_letter_jobs where job_id = item.job_id limit 1)
  ) as type
from millrace.workflow_item as item
join millrace.workflow on workflow.id = item.workflow_id
join millrace.workflow_step as step on step.workflow_id = item.workflow_id and step.position = item.position
where item.job_id = any($1::bigint[])
order by item.job_id
for no key update of item;
