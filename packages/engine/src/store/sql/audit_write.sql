-- Note what a person or program did or was refused, in the transaction in which it happened.
-- Params:  $1 now timestamptz or null, $2 entries jsonb: [{ by, action, target, tenant, details }], $3 source text or null,
--          $4 request id text or null
-- Returns: nothing.
-- Locks:   nothing.
-- Index:   none
insert into millrace.audit_log (at, actor, action, target, tenant, details, source, request_id)
select coalesce($1, now()), by, action, target, tenant, details, $3, $4
from jsonb_to_recordset($2::jsonb) as entry (by text, action text, target text, tenant text, details jsonb);
