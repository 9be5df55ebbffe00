-- A workflow that is a step of another one has ended: count it off that step. In the transaction that ends it.
-- Params:  $1 parent_id bigint, $2 parent_position int, $3 status of the child, $4 reason or null
-- Returns: nothing. Said twice, the second time nothing happens.
-- Locks:   that step, which is running or being undone, so that nobody who advances the parent writes it
-- Index:   workflow_step_pkey
update millrace.workflow_step
set items_failed = items_failed + (status = 'running' and $3 not in ('completed', 'cancelled'))::int,
    items_cancelled = items_cancelled + (status = 'running' and $3 = 'cancelled')::int,
    items_left = case when status = 'running' then 0 else items_left end,
    undo_failed = undo_failed + (undo = 'running' and $3 = 'rollback failed')::int,
    undo_left = case when undo = 'running' then 0 else undo_left end,
    reason = case when $3 in ('completed', 'rolled back') and undo = 'running' then reason else $4 end,
    ended_at = case when status = 'running' then now() else ended_at end, needs_advance = true
where workflow_id = $1
  and position = $2
  and (status = 'running' and items_left = 1 or undo = 'running' and undo_left = 1);
