-- Whether there is any token that is in force.
-- Params:  $1 now timestamptz or null
-- Returns: one row, exists.
-- Locks:   nothing.
-- Index:   admin_token_by_name_idx
select exists (
  select
  from millrace.admin_token
  where session_of is null
    and revoked_at is null
    and (expires_at is null or expires_at > coalesce($1, now()))
) as exists;
