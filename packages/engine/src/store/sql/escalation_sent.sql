-- A message has arrived.
-- Params:  $1 ids bigint[], $2 is_final bool: its channel is told nothing more about them
-- Returns: nothing.
-- Locks:   those rows.
-- Index:   escalation_pkey
update millrace.escalation
set sent_at = clock_timestamp(), last_error = null, told = case when $2 then 'resolved' end
where id = any($1::bigint[])
  and sent_at is null;
