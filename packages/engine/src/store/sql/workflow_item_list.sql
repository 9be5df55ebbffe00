-- The jobs of steps, and what became of them.
-- Params:  $1 workflow_id bigint, $2 positions int[], $3 kind text, $4 status text or null for any
-- Returns: the items, in order.
-- Locks:   none
-- Index:   workflow_item_pkey
select position, item, job_id, status, reason, payload, payload_version, result, result is not null as has_result
from millrace.workflow_item
where workflow_id = $1
  and position = any($2::int[])
  and kind = $3
  and ($4::text is null or status = $4)
order by position, item;
