-- The signals that a workflow has got.
-- Params:  $1 workflow_id bigint
-- Returns: name, key, payload
-- Locks:   none
-- Index:   workflow_signal_pkey
select name, key, payload
from millrace.workflow_signal
where workflow_id = $1;
