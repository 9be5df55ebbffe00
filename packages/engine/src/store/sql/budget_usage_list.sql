-- What was spent in a period, by job type and by who had the job enqueued, the largest amounts first.
-- Params:  $1 budget text, $2 period text, $3 limit int
-- Returns: the rows.
-- Locks:   none
-- Index:   budget_usage_budget_period_type_created_by_key
select type, created_by, amount, calls, updated_at
from millrace.budget_usage
where budget = $1
  and period = $2
order by amount desc, type, created_by
limit $3;
