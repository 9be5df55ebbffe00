-- The token or session with this hash, while it is valid: neither it nor the token that opened it has expired or was revoked.
-- Params:  $1 now timestamptz or null, $2 hash bytea
-- Returns: the token, and whether its last use is more than a minute ago.
-- Locks:   nothing.
-- Index:   admin_token_hash_key, admin_token_pkey
select token.id, token.name, token.role, to_jsonb(token.tenants) as tenants, token.session_of is not null as is_session, token.created_at,
  token.created_by, token.expires_at, token.last_used_at, token.revoked_at, token.revoked_by,
  coalesce(token.last_used_at < moment - interval '1 minute', true) as is_use_old
from millrace.admin_token as token
cross join (select coalesce($1, now()) as moment) as clock
left join millrace.admin_token as opener on opener.id = token.session_of
where token.hash = $2::bytea
  and token.revoked_at is null
  and (token.expires_at is null or token.expires_at > moment)
  and opener.revoked_at is null
  and (opener.expires_at is null or opener.expires_at > moment);
