-- Make jobs due that wait for a budget, and forget that they did.
-- Params:  $1 now timestamptz or null, $2 budget text, $3 limit int
-- Returns: freed: how many holds are gone; queues: those of the jobs that are due.
-- Locks:   those holds, passing over ones that another transaction has, and those job rows
-- Index:   budget_hold_pkey, job_pkey
-- A run that is still being settled keeps its hold. A job that waits for another reason has another run_id or due time.
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
due as (
  update millrace.job
  set run_at = least(run_at, coalesce($1, now())), updated_at = coalesce($1, now())
  from freed
  where job.id = freed.job_id
    and job.run_id = freed.run_id
    and status = 'pending'
    and run_at between until and until + interval '5 minutes'
  returning queue
)
select (select count(*)::integer from freed) as freed, array(select distinct queue from due) as queues;
