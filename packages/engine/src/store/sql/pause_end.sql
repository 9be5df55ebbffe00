-- End a pause.
-- Params:  $1 queue text, $2 type text, $3 tenant text
-- Returns: the pause that was.
-- Locks:   its row.
delete from millrace.pause
where queue is not distinct from $1
  and type is not distinct from $2
  and tenant is not distinct from $3
returning queue, type, tenant, reason, author, created_at, expires_at;
