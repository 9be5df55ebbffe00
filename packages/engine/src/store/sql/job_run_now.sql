-- Make waiting jobs due at once. A blocked one still waits for what blocks it.
-- Params:  $1 now timestamptz or null, $2 ids bigint[]
-- Returns: id, queue and keys of the jobs that were waiting.
-- Locks:   those job rows
-- Index:   job_pkey
update millrace.job
set run_at = least(run_at, coalesce($1, now())), updated_at = coalesce($1, now())
where id = any($2::bigint[])
  and status in ('pending', 'blocked')
returning id, queue, tenant, order_key, limit_key, tenant_jobs;
