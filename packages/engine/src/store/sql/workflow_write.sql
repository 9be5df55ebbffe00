-- Write down what was decided about a workflow. Whoever does it has locked it.
-- Params:  $1 now timestamptz or null, $2 id bigint, $3 status, $4 stopping or null, $5 rolls_back bool, $6 reason or null,
--          $7 has_ended bool, $8 look_after_ms float8 or null: look at it again by then, $9 resumes bool
-- Returns: nothing
-- Locks:   the workflow
-- Index:   workflow_pkey
update millrace.workflow
set status = $3, stopping = $4, rolls_back = $5::bool, resumes = $9::bool, reason = $6, held = null, updated_at = coalesce($1, now()),
    finished_at = case when $7::bool then coalesce(finished_at, $1, now()) end,
    advance_at = coalesce($1, now()) + $8::float8 * interval '1 millisecond'
where id = $2;
