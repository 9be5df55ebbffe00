-- How jobs ended that are live no more.
-- Params:  $1 ids bigint[]
-- Returns: id, type, tenant, workflow_id, status, reason, error, result, has_result (false: the handler returned nothing). No row: there was
--          no such job, or its retention kept nothing. A dead one has a letter all the same, and may come twice.
-- Locks:   none
-- Index:   job_archive_by_id_idx, dead_letter_by_job_idx
select id, type, tenant, workflow_id, status, reason, last_error as error, result, result is not null as has_result
from millrace.job_archive
where id = any($1::bigint[])
union all
select job_id, type, tenant, workflow_id, 'dead', reason, error_message, null, false
from millrace.dead_letter_jobs
where job_id = any($1::bigint[]);
