-- Take a key from a run that is no longer live, or whose result has expired.
-- Params:  $1 now timestamptz or null, $2 tenant text, $3 scope text, $4 key text, $5 job_id bigint, $6 run_id uuid,
--          $7 retention_ms float8, $8 held_state text, $9 held_job_id bigint, $10 held_run_id uuid: as once_look.sql saw
-- Returns: a row if nobody was faster.
-- Locks:   that row.
-- Index:   once_key_pkey
update millrace.once_key
set state = 'running', result = null, job_id = $5, run_id = $6, claimed_at = coalesce($1, now()), done_at = null,
  expires_at = coalesce($1, now()) + $7::float8 * interval '1 millisecond'
where tenant = $2
  and scope = $3
  and key = $4
  and state = $8
  and job_id = $9
  and run_id = $10
returning key;
