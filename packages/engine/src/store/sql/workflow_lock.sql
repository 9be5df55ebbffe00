-- A workflow, for whoever is about to change it: alone until the end of the transaction.
-- Params:  $1 id bigint
-- Returns: at most one row.
-- Locks:   the workflow
-- Index:   workflow_pkey
select id, name, status, stopping, rolls_back, priority, tenant, correlation_id, created_by, reason, held, input, advance_at is not null as is_looked_after
from millrace.workflow
where id = $1
for no key update;
