-- Write down what a program has read of a budget that it keeps in a table of its own.
-- Params:  $1 name text, $2 period text, $3 spent bigint, $4 limit bigint or null, $5 at timestamptz
-- Returns: nothing.
-- Locks:   the budget's row, which no transaction of a caller's locks.
-- Index:   budget_pkey
update millrace.budget
set reading_period = $2, reading_spent = $3, reading_limit = $4, reading_at = $5
where name = $1
  and (reading_at is null or reading_at <= $5);
