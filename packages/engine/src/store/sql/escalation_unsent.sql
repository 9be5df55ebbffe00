-- A message could not be sent.
-- Params:  $1 ids bigint[], $2 error text, $3 outcome text. refused: it will never be taken, so stop trying; missed: it did not
--          arrive, so its rows may go into another message; unknown: it may have arrived, so it is sent again as it is
-- Returns: nothing.
-- Locks:   those rows.
-- Index:   escalation_pkey
update millrace.escalation
set last_error = $2,
  message_key = case $3 when 'missed' then null else message_key end,
  undeliverable_at = case $3 when 'refused' then clock_timestamp() end
where id = any($1::bigint[])
  and sent_at is null;
