-- Steps of workflows without jobs: they wait for a signal, for a time, or for another workflow.
--
-- * Such a step is running while it waits. Nothing counts it off: whoever advances the workflow looks whether the signal is there
--   or the time has come. So what waits is found by `due_at`, and by `needs_advance`, which the signal sets.
-- * A workflow that is a step of another one counts itself off that step when it ends, as a job does.
-- * A signal may come before its step starts. There is one for each step.

alter table millrace.workflow_step
  add column waits_for text check (waits_for in ('signal', 'sleep', 'workflow')),
  add column due_at    timestamptz;

-- workflow_look.sql: whose jobs are looked for. Steps without jobs may run for months.
drop index millrace.workflow_step_running_idx;
create index workflow_step_running_idx on millrace.workflow_step (workflow_id, position)
  where (status = 'running' or undo = 'running') and waits_for is null;
-- workflow_look.sql: whose time has come?
create index workflow_step_by_due_idx on millrace.workflow_step (due_at)
  where status = 'running' and waits_for is not null and due_at is not null;

alter table millrace.workflow
  add column parent_id       bigint,
  add column parent_position integer;

-- workflow_children.sql
create index workflow_by_parent_idx on millrace.workflow (parent_id, parent_position, id) where parent_id is not null;

create table millrace.workflow_signal (
  workflow_id bigint not null,
  name        text not null,
  key         text,
  sent_by     text not null,
  sent_at     timestamptz not null,
  payload     jsonb,
  primary key (workflow_id, name)
);
