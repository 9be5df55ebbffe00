-- Replace payloads of live jobs that job_lock_payload.sql has locked.
-- Params:  $1 ids bigint[], $2 payloads jsonb[]
-- Returns: nothing
-- Locks:   those job rows
-- Index:   job_pkey
update millrace.job
set payload = mine.payload
from unnest($1::bigint[], $2::jsonb[]) as mine (id, payload)
where job.id = mine.id;
