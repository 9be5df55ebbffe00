-- The live jobs of a tenant: what is to be cancelled or stopped with it.
-- Params:  $1 tenant text
-- Returns: id, is_running
-- Locks:   none
-- Index:   none: reads the live table. Not for a hot path.
select id, status = 'processing' as is_running
from millrace.job
where tenant = $1
order by id;
