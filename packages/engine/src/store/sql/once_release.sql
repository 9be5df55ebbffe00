-- Give a key back: what was to be done under it has failed.
-- Params:  $1 tenant text, $2 scope text, $3 key text, $4 job_id bigint, $5 run_id uuid
-- Returns: nothing.
-- Locks:   that row.
-- Index:   once_key_pkey
delete from millrace.once_key
where tenant = $1
  and scope = $2
  and key = $3
  and job_id = $4
  and run_id = $5
  and state = 'running';
