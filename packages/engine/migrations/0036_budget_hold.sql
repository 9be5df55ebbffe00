-- Jobs that wait for a budget, so that a raise of its limit makes them due. The row counts only while the job still waits
-- under the run that was refused.
create table millrace.budget_hold (
  budget text not null,
  job_id bigint not null,
  run_id uuid not null,
  -- The full hour at which the job is tried again by itself.
  until  timestamptz not null,
  primary key (budget, job_id)
);

-- budget_hold_prune.sql
create index budget_hold_for_prune_idx on millrace.budget_hold (until);
