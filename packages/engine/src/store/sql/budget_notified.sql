-- Remember which threshold of a period listeners were told of.
-- Params:  $1 budget text, $2 period text, $3 threshold int
-- Returns: nothing.
-- Locks:   the row of the period, which is locked already.
-- Index:   budget_period_pkey
update millrace.budget_period
set notified = $3
where budget = $1
  and period = $2;
