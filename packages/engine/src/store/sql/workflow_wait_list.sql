-- Which waiting steps of a workflow have what they wait for?
-- Params:  $1 now timestamptz or null, $2 workflow_id bigint
-- Returns: position, has_signal of those; false: their time has come.
-- Locks:   none. Whoever asks has locked the workflow.
-- Index:   workflow_step_pkey, workflow_signal_pkey
select step.position, signal.name is not null as has_signal
from millrace.workflow_step as step
left join millrace.workflow_signal as signal on signal.workflow_id = step.workflow_id and signal.name = step.name
where step.workflow_id = $2
  and step.status = 'running'
  and step.waits_for is not null
  and (signal.name is not null or step.due_at <= coalesce($1, now()));
