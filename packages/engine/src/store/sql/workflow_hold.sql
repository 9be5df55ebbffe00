-- Workflows in which something should follow, and nobody has come: say so. Who can advance them is not kept from it.
-- Params:  $1 ids bigint[], $2 why text
-- Returns: nothing
-- Locks:   those workflows, skipping what somebody advances just now
-- Index:   workflow_pkey, workflow_step_for_advance_idx
with stuck as materialized (
  select id
  from millrace.workflow
  where id = any($1::bigint[])
    and held is null
    and finished_at is null
    and exists (select from millrace.workflow_step where workflow_id = workflow.id and needs_advance)
  for no key update skip locked
)
update millrace.workflow
set held = $2
where id = any(array(select id from stuck));
