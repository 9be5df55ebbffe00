-- Is this run under way?
-- Params:  $1 id bigint, $2 run_id uuid
-- Returns: the id, if it is.
-- Locks:   none
-- Index:   job_pkey
select id
from millrace.job
where id = $1 and run_id = $2 and status = 'processing';
