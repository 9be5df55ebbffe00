-- A workflow could not be advanced for a reason that may pass: say so, and look again later.
-- Params:  $1 now timestamptz or null, $2 id bigint, $3 why text, $4 delay_ms float8
-- Returns: nothing
-- Locks:   the workflow
-- Index:   workflow_pkey
update millrace.workflow
set held = $3, advance_at = coalesce($1, now()) + $4::float8 * interval '1 millisecond'
where id = $2
  and finished_at is null;
