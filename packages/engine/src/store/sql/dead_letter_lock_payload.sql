-- Payloads of dead letters that are about to be encrypted anew.
-- Params:  $1 ids bigint[]
-- Returns: id, type, tenant, workflow_id, payload
-- Locks:   those letters, in the order of their ids
-- Index:   dead_letter_jobs_pkey
select id, type, tenant, workflow_id, original_job->'payload' as payload
from millrace.dead_letter_jobs
where id = any($1::bigint[])
order by id
for no key update;
