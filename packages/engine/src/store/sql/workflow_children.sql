-- The workflows that are steps of another one: of each step the last that was started.
-- Params:  $1 parent_id bigint, $2 positions int[]
-- Returns: position, id, status
-- Locks:   none
-- Index:   workflow_by_parent_idx
select distinct on (parent_position) parent_position as position, id, status
from millrace.workflow
where parent_id = $1
  and parent_position = any($2::int[])
order by parent_position, id desc;
