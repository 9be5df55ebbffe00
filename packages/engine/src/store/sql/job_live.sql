-- Which of these jobs are still waiting or running?
-- Params:  $1 ids bigint[]
-- Returns: id and type of the live ones.
-- Locks:   none
-- Index:   job_pkey
select id, type
from millrace.job
where id = any($1::bigint[]);
