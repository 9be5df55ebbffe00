-- Send escalations again, also such as were refused or sent before. The deliverer chooses their channel anew.
-- Params:  $1 ids bigint[]
-- Returns: the ids.
-- Locks:   those rows.
-- Index:   escalation_pkey
update millrace.escalation
set channel = null, sent_at = null, undeliverable_at = null, message_key = null,
  last_error = null, told = null
where id = any($1::bigint[])
returning id;
