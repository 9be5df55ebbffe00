-- Note that a token was used. Another use within the same minute leaves it alone.
-- Params:  $1 now timestamptz or null, $2 id bigint
-- Returns: nothing.
-- Locks:   that row.
-- Index:   admin_token_pkey
update millrace.admin_token
set last_used_at = coalesce($1, now())
where id = $2
  and coalesce(last_used_at < coalesce($1, now()) - interval '1 minute', true);
