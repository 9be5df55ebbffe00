-- Note what somebody did or was refused, in the transaction in which it happened.
-- Params:  $1 now timestamptz or null, $2 actor text, $3 action text, $4 target text, $5 tenant text, $6 details jsonb
-- Returns: nothing.
-- Locks:   nothing.
-- Index:   none
insert into millrace.audit_log (at, actor, action, target, tenant, details)
values (coalesce($1, now()), $2, $3, $4, $5, $6::jsonb);
