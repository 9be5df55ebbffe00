-- A page of workflows, newest first.
-- Params:  $1 status, $2 name, $3 tenant, each null for any; $4 before bigint or null: only older ones, $5 limit int
-- Returns: the workflows, without input.
-- Locks:   none
-- Index:   workflow_by_status_idx, workflow_by_tenant_idx, or workflow_pkey from its end
select
  id, parent_id, name, status, stopping, rolls_back, resumes, tenant, correlation_id, created_by, reason, held, created_at, updated_at,
  finished_at
from millrace.workflow
where ($1::text is null or status = $1)
  and ($2::text is null or name = $2)
  and ($3::text is null or tenant = $3)
  and ($4::bigint is null or id < $4)
order by id desc
limit $5;
