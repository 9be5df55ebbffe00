-- Which of these workflows have a step whose jobs have all ended, so that something may follow?
-- Params:  $1 ids bigint[]
-- Returns: id, name
-- Locks:   none
-- Index:   workflow_pkey, workflow_step_for_advance_idx
select id, name
from millrace.workflow
where id = any($1::bigint[])
  and exists (select from millrace.workflow_step where workflow_id = workflow.id and needs_advance);
