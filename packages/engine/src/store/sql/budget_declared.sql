-- The budgets that any program has declared on this database.
-- Params:  none
-- Returns: one row per budget, by name.
-- Locks:   none
-- Index:   budget_pkey
select name, per, unit, time_zone, declared_limit, has_source
from millrace.budget
order by name;
