-- Take out of workflows why their steps did not complete. Whoever does it has locked them, and emptied their items before.
-- Params:  $1 workflow_ids bigint[]
-- Returns: nothing
-- Locks:   those steps, in order, as whoever ends their jobs
-- Index:   workflow_step_pkey
with locked as materialized (
  select workflow_id, position
  from millrace.workflow_step
  where workflow_id = any($1::bigint[])
    and reason is not null
  order by workflow_id, position
  for no key update
)
update millrace.workflow_step
set reason = '[erased]'
from locked
where workflow_step.workflow_id = locked.workflow_id
  and workflow_step.position = locked.position;
