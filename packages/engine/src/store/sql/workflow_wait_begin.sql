-- A step begins to wait. Whoever does it has locked its workflow.
-- Params:  $1 now timestamptz or null, $2 workflow_id bigint, $3 position int, $4 delay_ms float8 or null, $5 at timestamptz or
--          null; neither: as long as it takes
-- Returns: due_in_ms (negative: the time has come; null: there is none), has_signal
-- Locks:   the step
-- Index:   workflow_step_pkey, workflow_signal_pkey
update millrace.workflow_step as step
set due_at = coalesce($5::timestamptz, coalesce($1, now()) + $4::float8 * interval '1 millisecond')
where workflow_id = $2
  and position = $3
returning
  extract(epoch from due_at - coalesce($1, now()))::float8 * 1000 as due_in_ms,
  exists (select from millrace.workflow_signal where workflow_id = $2 and name = step.name) as has_signal;
