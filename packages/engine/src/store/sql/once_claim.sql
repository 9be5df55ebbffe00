-- Claim a key for a run that is about to do what must not be done twice.
-- Params:  $1 now timestamptz or null, $2 tenant text, $3 scope text, $4 key text, $5 job_id bigint, $6 run_id uuid,
--          $7 retention_ms float8, $8 lock_timeout_ms: how long an open transaction that holds the key is waited for
-- Returns: a row if the key was free and the run is live.
-- Locks:   waits for a transaction that is inserting the same key, at most lock_timeout.
-- Index:   once_key_pkey, job_pkey
insert into millrace.once_key (tenant, scope, key, state, job_id, run_id, claimed_at, expires_at)
select
  $2, $3, $4, 'running', job.id, job.run_id, coalesce($1, now()),
  coalesce($1, now()) + $7::float8 * interval '1 millisecond'
from (select set_config('lock_timeout', $8::text, true) where $8::text is not null) as patience
right join millrace.job on true
where job.id = $5
  and job.run_id = $6
  and job.status = 'processing'
on conflict (tenant, scope, key) do nothing
returning key;
