-- Payloads of live jobs that are about to be encrypted anew.
-- Params:  $1 ids bigint[]
-- Returns: id, type, tenant, workflow_id, payload
-- Locks:   those job rows, in the order of their ids; a claim skips them meanwhile.
-- Index:   job_pkey
select id, type, tenant, workflow_id, payload
from millrace.job
where id = any($1::bigint[])
order by id
for no key update;
