-- Take out of workflows what their jobs were given and have returned. Whoever does it has locked them.
-- Params:  $1 workflow_ids bigint[]
-- Returns: nothing
-- Locks:   those items, in the order of their jobs, as whoever ends these
-- Index:   workflow_item_pkey
with locked as materialized (
  select workflow_id, position, kind, item
  from millrace.workflow_item
  where workflow_id = any($1::bigint[])
    and (payload is not null or result is not null or reason is not null)
  order by job_id
  for no key update
)
update millrace.workflow_item
set payload = case when payload is not null then '{"erased": true}'::jsonb end,
    result = case when result is not null then '{"erased": true}'::jsonb end,
    reason = case when reason is not null then '[erased]' end
from locked
where workflow_item.workflow_id = locked.workflow_id
  and workflow_item.position = locked.position
  and workflow_item.kind = locked.kind
  and workflow_item.item = locked.item;
