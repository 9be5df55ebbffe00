-- Take out of workflows what came with their signals. Whoever does it has locked them.
-- Params:  $1 workflow_ids bigint[]
-- Returns: nothing
-- Locks:   those signals, which nobody writes without the workflow's lock
-- Index:   workflow_signal_pkey
update millrace.workflow_signal
set payload = '{"erased": true}'
where workflow_id = any($1::bigint[])
  and payload is not null;
