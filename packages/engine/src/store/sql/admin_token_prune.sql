-- Forget sessions that are over, and tokens 30 days after they expired or were revoked.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: the ids.
-- Locks:   those rows.
-- Index:   admin_token_pkey
delete from millrace.admin_token
where id in (
  select id
  from millrace.admin_token
  where least(expires_at, revoked_at)
    < coalesce($1, now()) - case when session_of is null then interval '30 days' else interval '0' end
  limit $2
)
returning id;
