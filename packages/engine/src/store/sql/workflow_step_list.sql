-- The steps of a workflow, for people: how far each has come, and by which jobs.
-- Params:  $1 workflow_id bigint, $2 jobs int: of so many the ids are told, those that failed first
-- Returns: the steps in order.
-- Locks:   none
-- Index:   workflow_step_pkey, workflow_item_pkey, workflow_by_parent_idx
select
  name, coalesce(waits_for, 'jobs') as kind, after, is_list, can_be_undone, completed_as, status, undo, undo_left, reason,
  case when status = 'running' then due_at end as due_at, case
    when waits_for = 'workflow'
    then (select max(id) from millrace.workflow where parent_id = step.workflow_id and parent_position = step.position)
  end as child_id, coalesce(items, 0) as jobs,
  coalesce(items, 0) - items_left - items_failed - items_cancelled as completed, items_failed as failed,
  items_cancelled as cancelled, items_left as running, to_jsonb(array(
    select job_id::text from millrace.workflow_item as item
    where item.workflow_id = step.workflow_id and item.position = step.position and item.kind = 'do'
    order by item.status <> 'failed', item.item
    limit $2
  )) as job_ids, to_jsonb(array(
    select job_id::text from millrace.workflow_item as item
    where item.workflow_id = step.workflow_id and item.position = step.position and item.kind = 'undo'
    order by item.status <> 'failed', item.item
    limit $2
  )) as undo_job_ids
from millrace.workflow_step as step
where workflow_id = $1
order by position;
