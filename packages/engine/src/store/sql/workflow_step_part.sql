-- The steps of a locked workflow that matter where jobs have completed, however many others there are: those that have ended,
-- those that can start now, and what comes before these.
-- Params:  $1 workflow_id bigint
-- Returns: these steps in order, as workflow_step_rows.sql; last_place: the highest completed_as of all; is_open_elsewhere:
--          others wait or run.
-- Locks:   none, as workflow_step_rows.sql
-- Index:   workflow_step_pkey, workflow_step_for_advance_idx
with fresh as materialized (
  select position, name from millrace.workflow_step where workflow_id = $1 and needs_advance
),
open as materialized (
  select position, name
  from millrace.workflow_step
  where workflow_id = $1
    and status in ('waiting', 'running')
    and not needs_advance
),
edge as materialized (
  select position, parent
  from millrace.workflow_step
  cross join jsonb_object_keys(after) as parent
  where workflow_id = $1
    and status = 'waiting'
),
next as materialized (
  select position
  from edge
  group by position
  having bool_or(parent in (select name from fresh)) and not bool_or(parent in (select name from open))
),
part as materialized (
  select position from fresh
  union
  select position from next
  union
  select position
  from millrace.workflow_step
  where workflow_id = $1
    and name in (select parent from edge where position in (select position from next))
)
select
  position, name, coalesce(waits_for, 'jobs') as kind, after, on_failure, can_be_undone, is_list, status, undo, completed_as,
  ended_at, items, items_left, items_failed, items_cancelled, undo_left, undo_failed, needs_advance, reason,
  (select coalesce(max(completed_as), 0) from millrace.workflow_step where workflow_id = $1) as last_place,
  exists (select from open where position not in (select position from part)) as is_open_elsewhere
from millrace.workflow_step
where workflow_id = $1
  and position in (select position from part)
order by position;
