-- The live jobs of a tenant: what is to be cancelled or stopped with it.
-- Params:  $1 tenant text
-- Returns: their ids
-- Locks:   none
-- Index:   none: reads the live table. Not for a hot path.
select id
from millrace.job
where tenant = $1
order by id;
