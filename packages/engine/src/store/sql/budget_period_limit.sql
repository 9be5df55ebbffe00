-- Set the limit of a budget for one period, or take the setting away.
-- Params:  $1 budget text, $2 period text, $3 limit bigint or null
-- Returns: nothing.
-- Locks:   the row of the period, which is locked already.
-- Index:   budget_period_pkey
update millrace.budget_period
set limit_override = $3
where budget = $1
  and period = $2;
