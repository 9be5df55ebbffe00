-- The steps of a locked workflow that matter where jobs have completed, however many others there are: those that have ended,
-- those that can start now, and what comes before these.
-- Params:  $1 now timestamptz or null, $2 workflow_id bigint
-- Returns: these steps in order, as workflow_step_rows.sql; only_item: of one that is no list, what its job left behind if it
--          completed; last_place: the highest completed_as of all; is_open_elsewhere: others wait or run; is_time_up: of
--          some step that waits for a time.
-- Locks:   none, as workflow_step_rows.sql
-- Index:   workflow_step_pkey, workflow_step_for_advance_idx, workflow_item_pkey
with fresh as materialized (
  select position, name from millrace.workflow_step where workflow_id = $2 and needs_advance
),
candidate as materialized (
  select position, after
  from millrace.workflow_step
  where workflow_id = $2
    and status = 'waiting'
    and after ?| array(select name from fresh)
),
parent as materialized (
  select position, name, status in ('waiting', 'running') and not needs_advance as is_open
  from millrace.workflow_step
  where workflow_id = $2
    and name in (select jsonb_object_keys(after) from candidate)
),
next as materialized (
  select position, after from candidate where not after ?| array(select name from parent where is_open)
),
part as materialized (
  select position from fresh
  union
  select position from next
  union
  select position from parent where exists (select from next where after ? name)
),
whole as materialized (
  select
    coalesce(max(completed_as), 0) as last_place,
    bool_or(
      status in ('waiting', 'running') and not needs_advance and position not in (select position from part)
    ) as is_open_elsewhere,
    bool_or(status = 'running' and waits_for is not null and due_at <= coalesce($1, now())) as is_time_up
  from millrace.workflow_step
  where workflow_id = $2
)
select
  position, name, coalesce(waits_for, 'jobs') as kind, after, on_failure, can_be_undone, is_list, status, undo, completed_as,
  ended_at, items, items_left, items_failed, items_cancelled, undo_left, undo_failed, needs_advance, reason,
  case
    when not is_list and items is not null then (
      select jsonb_build_object(
        'position', position, 'item', item, 'jobId', job_id::text, 'result', result, 'hasResult', result is not null
      )
      from millrace.workflow_item
      where workflow_id = $2
        and position = workflow_step.position
        and kind = 'do'
        and item = 0
        and status = 'completed'
    )
  end as only_item,
  last_place, is_open_elsewhere, coalesce(is_time_up, false) as is_time_up
from millrace.workflow_step
cross join whole
where workflow_id = $2
  and position = any(array(select position from part))
order by position;
