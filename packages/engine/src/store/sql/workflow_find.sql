-- Workflows of a tenant that were not erased, page by page.
-- Params:  $1 tenant, $2 after bigint, $3 limit int
-- Returns: the ids, in order.
-- Locks:   none
-- Index:   workflow_by_tenant_idx
select id
from millrace.workflow
where tenant = $1
  and id > $2
  and input is distinct from '{"erased": true}'
order by id
limit $3;
