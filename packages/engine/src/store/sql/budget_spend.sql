-- Count what was spent: once, however often it is said. A reservation of that id becomes the note that it was spent.
-- Params:  $1 now timestamptz or null, $2 job_id bigint, $3 run_id uuid, $4 id uuid, $5 budget text, $6 period text,
--          $7 amount bigint, $8 calls bigint, $9 type text, $10 created_by text
-- Returns: one row if this counted, none if it was counted before.
-- Locks:   the row of the period, until the transaction ends.
-- Index:   budget_reservation_pkey, budget_usage_budget_period_type_created_by_key, budget_period_pkey
with charge as (
  insert into millrace.budget_reservation (job_id, run_id, id, budget, period, amount, created_at, spent_at)
  values ($2, $3, $4, $5, $6, $7, coalesce($1, now()), coalesce($1, now()))
  on conflict (job_id, run_id, id) do update
  set amount = excluded.amount, spent_at = excluded.spent_at
  where budget_reservation.spent_at is null
  returning budget, period, amount
),
total as (
  insert into millrace.budget_period as total (budget, period, spent, calls, updated_at)
  select budget, period, amount, $8::bigint, coalesce($1, now())
  from charge
  on conflict (budget, period) do update
  set spent = total.spent + excluded.spent, calls = total.calls + excluded.calls, updated_at = excluded.updated_at
  returning budget, period
)
insert into millrace.budget_usage as usage (budget, period, type, created_by, amount, calls, updated_at)
select budget, period, $9, $10, $7::bigint, $8::bigint, coalesce($1, now())
from total
on conflict (budget, period, type, created_by) do update
set amount = usage.amount + excluded.amount, calls = usage.calls + excluded.calls, updated_at = excluded.updated_at
returning budget;
