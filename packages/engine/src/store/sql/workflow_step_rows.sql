-- The steps of a workflow that is locked, for whoever decides about it.
-- Params:  $1 workflow_id bigint
-- Returns: the steps in order.
-- Locks:   none. Those with running jobs may be counted down meanwhile, and are not written by whoever decides; all others
--          change only under the workflow's lock.
-- Index:   workflow_step_pkey
select
  position, name, coalesce(waits_for, 'jobs') as kind, after, on_failure, can_be_undone, is_list, status, undo, completed_as,
  ended_at, items, items_left, items_failed, items_cancelled, undo_left, undo_failed, needs_advance, reason
from millrace.workflow_step
where workflow_id = $1
order by position;
