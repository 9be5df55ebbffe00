-- Lock the row of a budget's period, and make it if there is none. What is read afterwards, in another statement, is exact.
-- Params:  $1 now timestamptz or null, $2 budget text, $3 period text
-- Returns: nothing.
-- Locks:   that row, until the transaction ends. Waits for whoever holds it.
-- Index:   budget_period_pkey
insert into millrace.budget_period (budget, period, updated_at)
values ($2, $3, coalesce($1, now()))
on conflict (budget, period) do update
set updated_at = excluded.updated_at;
