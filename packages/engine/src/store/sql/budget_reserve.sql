-- Keep an amount for a run. The period's row is locked and the amount fits: see budget_period_lock.sql.
-- Params:  $1 now timestamptz or null, $2 job_id bigint, $3 run_id uuid, $4 id uuid, $5 budget text, $6 period text, $7 amount bigint
-- Returns: one row; none if the run no longer owns its job, so that nothing would count.
-- Locks:   nothing.
-- Index:   job_pkey
insert into millrace.budget_reservation (job_id, run_id, id, budget, period, amount, created_at)
select id, run_id, $4, $5, $6, $7::bigint, coalesce($1, now())
from millrace.job
where id = $2
  and run_id = $3
  and status = 'processing'
returning id;
