-- Tokens, newest first, also those that were revoked or have expired. Sessions are left out.
-- Params:  none
-- Returns: the tokens.
-- Locks:   nothing.
-- Index:   admin_token_pkey
select id, name, role, to_jsonb(tenants) as tenants, false as is_session, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by
from millrace.admin_token
where session_of is null
order by id desc;
