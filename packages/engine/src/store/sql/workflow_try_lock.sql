-- A workflow in which something may follow, for whoever has just ended a job of it, in the same transaction: alone until its
-- end, unless somebody else is just changing it.
-- Params:  $1 id bigint
-- Returns: as workflow_lock.sql. None: nothing follows, or somebody else has it.
-- Locks:   the workflow, without waiting: behind the job and its step, which others lock in front of nothing.
-- Index:   workflow_pkey, workflow_step_for_advance_idx
select
  id, name, status, stopping, rolls_back, resumes, priority, tenant, correlation_id, created_by, trace_parent, reason, held, input, parent_id,
  parent_position, advance_at is not null as is_looked_after
from millrace.workflow
where id = $1
  and exists (select from millrace.workflow_step where workflow_id = $1 and needs_advance)
for no key update skip locked;
