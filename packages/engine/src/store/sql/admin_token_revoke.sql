-- Revoke the token with this name. Its sessions end with it.
-- Params:  $1 now timestamptz or null, $2 name, $3 revoked_by
-- Returns: the token; nothing if none of that name is in force.
-- Locks:   that row.
-- Index:   admin_token_by_name_idx
update millrace.admin_token
set revoked_at = coalesce($1, now()), revoked_by = $3
where name = $2
  and session_of is null
  and revoked_at is null
returning id, name, role, to_jsonb(tenants) as tenants, false as is_session, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by;
