-- The dead letter of a job. There is one at most: an id that is archived never lives again.
-- Params:  $1 job_id bigint
-- Returns: at most one id.
-- Locks:   none
-- Index:   dead_letter_by_job_idx
select id
from millrace.dead_letter_jobs
where job_id = $1;
