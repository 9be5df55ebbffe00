-- Make jobs due that wait for a budget, and forget that they did.
-- Params:  $1 now timestamptz or null, $2 budget text, $3 limit int
-- Returns: one row for each hold that is gone: id, queue and keys of the job if it is due now, otherwise nulls.
-- Locks:   those holds, passing over ones that another transaction has; then those job rows, in the order of their ids.
-- Index:   budget_hold_pkey, job_pkey
-- A run that is still being settled keeps its hold. A job that waits for another reason has another run_id or due time.
-- One with a limit key is blocked meanwhile: the admitter has to let it through.
with freed as (
  delete from millrace.budget_hold
  where ctid = any(array(
    select hold.ctid
    from millrace.budget_hold as hold
    where hold.budget = $2
      and not exists (
        select from millrace.job where job.id = hold.job_id and job.run_id = hold.run_id and job.status = 'processing'
      )
    limit $3
    for update of hold skip locked
  ))
  returning job_id, run_id, until
),
waiting as materialized (
  select job.id
  from freed
  join millrace.job on job.id = freed.job_id
  where job.run_id = freed.run_id
    and job.status in ('pending', 'blocked')
    and job.run_at between freed.until and freed.until + interval '5 minutes'
  order by job.id
  for no key update of job
),
due as (
  update millrace.job
  set run_at = least(run_at, coalesce($1, now())), updated_at = coalesce($1, now())
  from waiting
  where job.id = waiting.id
  returning job.id, queue, tenant, order_key, limit_key, tenant_jobs
)
select due.*
from freed
left join due on due.id = freed.job_id;
