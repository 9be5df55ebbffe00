-- Write down what was decided about steps. Whoever does it has locked their workflow, and none of them has a running job.
-- Params:  $1 workflow_id bigint, $2 positions int[]; of each: $3 statuses text[], $4 undos text[], $5 completed_as int[],
--          $6 items int[], $7 items_left int[], $8 items_failed int[], $9 items_cancelled int[], $10 undo_left int[],
--          $11 undo_failed int[], $12 reasons text[]
-- Returns: nothing
-- Locks:   those steps
-- Index:   workflow_step_pkey
update millrace.workflow_step as step
set status = given.status, undo = given.undo, completed_as = given.completed_as, items = given.items,
    items_left = given.items_left, items_failed = given.items_failed, items_cancelled = given.items_cancelled,
    undo_left = given.undo_left, undo_failed = given.undo_failed, reason = given.reason, needs_advance = false
from unnest(
  $2::int[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[], $10::int[], $11::int[], $12::text[]
) as given (
  position, status, undo, completed_as, items, items_left, items_failed, items_cancelled, undo_left, undo_failed, reason
)
where step.workflow_id = $1
  and step.position = any($2::int[])
  and step.position = given.position;
