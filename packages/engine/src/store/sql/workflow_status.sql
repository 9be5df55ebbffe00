-- How workflows stand, for whoever awaits their end: nothing that may be large.
-- Params:  $1 id bigint
-- Returns: at most one row: name, status, reason
-- Locks:   none
-- Index:   workflow_pkey
select name, status, reason
from millrace.workflow
where id = $1;
