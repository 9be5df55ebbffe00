-- Note that a job is about to wait for its budget.
-- Params:  $1 budget text, $2 job_id bigint, $3 run_id uuid, $4 until timestamptz
-- Returns: nothing
-- Locks:   that row
-- Index:   budget_hold_pkey
insert into millrace.budget_hold (budget, job_id, run_id, until)
values ($1, $2, $3, $4)
on conflict (budget, job_id) do update
set run_id = excluded.run_id, until = excluded.until;
