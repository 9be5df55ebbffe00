-- End the session of a browser: forget it.
-- Params:  $1 hash bytea
-- Returns: nothing.
-- Locks:   that row.
-- Index:   admin_token_hash_key
delete from millrace.admin_token
where hash = $1::bytea
  and session_of is not null;
