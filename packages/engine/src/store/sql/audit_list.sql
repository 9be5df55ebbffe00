-- Entries of the audit log, newest first.
-- Params:  $1 limit int; each of these or null: $2 tenant, $3 by, $4 action, $5 target, $6 before: the id of an entry
-- Returns: the entries.
-- Locks:   nothing.
-- Index:   audit_log_pkey, audit_log_by_tenant_idx
select id, at, actor as by, action, target, tenant, details, source, request_id
from millrace.audit_log
where ($2::text is null or tenant = $2)
  and ($3::text is null or actor = $3)
  and ($4::text is null or action = $4)
  and ($5::text is null or target = $5)
  and ($6::bigint is null or id < $6)
order by id desc
limit $1;
