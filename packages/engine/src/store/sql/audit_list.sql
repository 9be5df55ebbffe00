-- The latest entries of the audit log, newest first.
-- Params:  $1 tenant text or null, $2 limit int
-- Returns: the entries.
-- Locks:   nothing.
-- Index:   audit_log_pkey, audit_log_by_tenant_idx
select id, at, actor as by, action, target, tenant, details
from millrace.audit_log
where $1::text is null or tenant = $1
order by id desc
limit $2;
