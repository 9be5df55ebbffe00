-- Of which step of which workflow a job is, and how that one stands.
-- Params:  $1 job_id bigint
-- Returns: at most one row; none if another job has taken its place.
-- Locks:   none
-- Index:   workflow_item_by_job_idx, workflow_pkey, workflow_step_pkey
select workflow.id, workflow.name, step.name as step, item.kind, workflow.status, workflow.reason, workflow.held
from millrace.workflow_item as item
join millrace.workflow on workflow.id = item.workflow_id
join millrace.workflow_step as step on step.workflow_id = item.workflow_id and step.position = item.position
where item.job_id = $1;
