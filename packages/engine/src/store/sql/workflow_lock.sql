-- A workflow, for whoever is about to change it: alone until the end of the transaction.
-- Params:  $1 id bigint, $2 patience text or null: the transaction is somebody else's
-- Returns: at most one row.
-- Locks:   the workflow. A process that is frozen in the middle of an advance, or whose machine is gone, loses it with its
--          connection after so much idle time: nobody else could advance the workflow meanwhile.
-- Index:   workflow_pkey
select
  id, name, status, stopping, rolls_back, resumes, priority, tenant, correlation_id, created_by, trace_parent, reason, held, input, parent_id,
  parent_position, advance_at is not null as is_looked_after,
  case when $2::text is not null then set_config('idle_in_transaction_session_timeout', $2, true) end as patience
from millrace.workflow
where id = $1
for no key update;
