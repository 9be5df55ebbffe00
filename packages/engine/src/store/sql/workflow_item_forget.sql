-- Forget the jobs of a workflow whose work was undone, and the jobs that undid it: the work is to be done anew.
-- Params:  $1 workflow_id bigint
-- Returns: position, count: how many jobs of a step were undone.
-- Locks:   those items, none of which has a job that lives; whoever does it has locked the workflow
-- Index:   workflow_item_pkey
with undoing as (
  delete from millrace.workflow_item
  where workflow_id = $1 and kind = 'undo' and status = 'completed'
  returning position, item
),
undone as (
  delete from millrace.workflow_item as done
  using undoing
  where done.workflow_id = $1
    and done.kind = 'do'
    and done.position = undoing.position
    and done.item = undoing.item
  returning done.position
)
select position, count(*)::int as count
from undone
group by position;
