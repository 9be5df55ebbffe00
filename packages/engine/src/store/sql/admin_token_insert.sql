-- Store a new token, or the session of one.
-- Params:  $1 now timestamptz or null, $2 name, $3 hash bytea, $4 role, $5 tenants text[] or null, $6 session_of bigint or null,
--          $7 created_by, $8 expires in ms or null
-- Returns: the token; nothing if its name or hash is taken.
-- Locks:   nothing.
-- Index:   admin_token_by_name_idx, admin_token_hash_key
insert into millrace.admin_token (name, hash, role, tenants, session_of, created_at, created_by, expires_at)
select $2, $3::bytea, $4, $5::text[], $6::bigint, moment, $7, moment + $8::float8 * interval '1 millisecond'
from (select coalesce($1, now()) as moment) as clock
on conflict do nothing
returning id, name, role, to_jsonb(tenants) as tenants, session_of is not null as is_session, created_at, created_by, expires_at, last_used_at,
  revoked_at, revoked_by;
