-- Note that listeners were told of thresholds.
-- Params:  $1 now timestamptz or null, $2 ids bigint[]
-- Returns: nothing.
-- Locks:   those rows
-- Index:   budget_notice_pkey
update millrace.budget_notice
set told_at = coalesce($1, now())
where id = any($2::bigint[]);
