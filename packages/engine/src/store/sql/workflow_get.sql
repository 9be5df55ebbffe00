-- Workflows with everything that is known of them, apart from their steps.
-- Params:  $1 id bigint
-- Returns: at most one row.
-- Locks:   none
-- Index:   workflow_pkey
select
  id, parent_id, name, status, stopping, rolls_back, resumes, tenant, correlation_id, created_by, reason, held, input, created_at, updated_at,
  finished_at
from millrace.workflow
where id = $1;
