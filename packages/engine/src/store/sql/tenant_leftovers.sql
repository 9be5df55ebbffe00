-- Waiting jobs of deleted tenants: those that were running when their tenant was deleted, and came back.
-- Params:  $1 limit int
-- Returns: id
-- Locks:   none
-- Index:   tenant_special_idx; the live table is read only if there are deleted tenants.
select id
from millrace.job
where status <> 'processing'
  and exists (select from millrace.tenant where status = 'deleted')
  and tenant in (select name from millrace.tenant where status = 'deleted')
order by id
limit $1;
