-- The trace that started a workflow: its steps are enqueued long after, by other processes.
alter table millrace.workflow add column trace_parent text;
