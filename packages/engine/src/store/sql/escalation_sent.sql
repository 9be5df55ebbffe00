-- A message has arrived.
-- Params:  $1 ids bigint[]
-- Returns: nothing.
-- Locks:   those rows.
-- Index:   escalation_pkey
update millrace.escalation
set sent_at = clock_timestamp(), last_error = null
where id = any($1::bigint[])
  and sent_at is null;
