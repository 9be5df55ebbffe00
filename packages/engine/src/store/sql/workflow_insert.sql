-- Write a workflow that begins.
-- Params:  $1 now timestamptz or null, $2 name, $3 rolls_back bool, $4 retention, $5 priority int or null, $6 tenant or null,
--          $7 correlation_id or null: its own, $8 created_by or null, $9 input jsonb or null,
--          $10 parent_id bigint or null, $11 parent_position int or null, $12 trace_parent or null
-- Returns: its id.
-- Locks:   none
insert into millrace.workflow (
  id, status, name, rolls_back, retention, priority, tenant, correlation_id, created_by, input, parent_id, parent_position,
  trace_parent, created_at, updated_at
)
select
  id, 'running', $2, $3::bool, $4, $5::int, $6, coalesce($7, 'workflow-' || id), $8, $9::jsonb, $10::bigint,
  $11::int, $12, coalesce($1, now()), coalesce($1, now())
from nextval('millrace.workflow_id_seq') as id
returning id;
