-- Why steps did not complete: the word of the first of their jobs that did not.
-- Params:  $1 workflow_id bigint, $2 positions int[], $3 kind text
-- Returns: position, reason; first those that failed, then those that were cancelled.
-- Locks:   none
-- Index:   workflow_item_pkey
select distinct on (position) position, reason
from millrace.workflow_item
where workflow_id = $1
  and position = any($2::int[])
  and kind = $3
  and status in ('failed', 'cancelled')
order by position, status desc, item;
