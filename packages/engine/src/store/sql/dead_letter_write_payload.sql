-- Replace payloads of dead letters that dead_letter_lock_payload.sql has locked.
-- Params:  $1 ids bigint[], $2 payloads jsonb[]
-- Returns: nothing
-- Locks:   those letters
-- Index:   dead_letter_jobs_pkey
update millrace.dead_letter_jobs as letter
set original_job = jsonb_set(original_job, '{payload}', mine.payload)
from unnest($1::bigint[], $2::jsonb[]) as mine (id, payload)
where letter.id = mine.id;
