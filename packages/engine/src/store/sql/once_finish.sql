-- Record the result of what was done under a key. Repeated after a lost reply, it finds its own record.
-- Params:  $1 now timestamptz or null, $2 tenant text, $3 scope text, $4 key text, $5 job_id bigint, $6 run_id uuid,
--          $7 retention_ms float8, $8 result jsonb
-- Returns: a row if the key was still this run's.
-- Locks:   that row.
-- Index:   once_key_pkey
update millrace.once_key
set state = 'done', result = $8::jsonb, done_at = coalesce($1, now()),
  expires_at = coalesce($1, now()) + $7::float8 * interval '1 millisecond'
where tenant = $2
  and scope = $3
  and key = $4
  and job_id = $5
  and run_id = $6
returning key;
