-- Who holds a key, and is the run that asks still the latest of its job? Apart from once_claim.sql, whose snapshot may be
-- older than the holder it met.
-- Params:  $1 now timestamptz or null, $2 tenant text, $3 scope text, $4 key text, $5 job_id bigint, $6 run_id uuid
-- Returns: is_own_live, and of the holder, if there is one: state, result as JSON text, job_id, run_id, is_expired,
--          is_live.
-- Locks:   none
-- Index:   once_key_pkey, job_pkey
select
  exists (
    select from millrace.job where job.id = $5 and job.run_id = $6 and job.status = 'processing'
  ) as is_own_live,
  held.state,
  held.result::text as result,
  held.job_id,
  held.run_id,
  held.expires_at <= coalesce($1, now()) as is_expired,
  exists (
    select from millrace.job where job.id = held.job_id and job.run_id = held.run_id and job.status = 'processing'
  ) as is_live
from (values ($2::text, $3::text, $4::text)) as wanted (tenant, scope, key)
left join millrace.once_key as held using (tenant, scope, key);
