-- A signal for a workflow: keep it, and have its step looked at if that waits. Whoever does it has locked the workflow.
-- Params:  $1 now timestamptz or null, $2 workflow_id bigint, $3 name, $4 payload jsonb or null, $5 key or null, $6 sent_by
-- Returns: nothing
-- Locks:   the step, which has no job that would count it off
-- Index:   workflow_signal_pkey, workflow_step_pkey
with kept as (
  insert into millrace.workflow_signal (workflow_id, name, payload, key, sent_by, sent_at)
  values ($2, $3, $4::jsonb, $5, $6, coalesce($1, now()))
)
update millrace.workflow_step
set needs_advance = true
where workflow_id = $2
  and name = $3
  and waits_for = 'signal'
  and status = 'running';
