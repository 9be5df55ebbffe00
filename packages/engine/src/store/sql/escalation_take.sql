-- Put escalations of a channel into a message that is about to be sent. A message of which nobody knows whether it
-- arrived comes first, under the key it had.
-- Params:  $1 channel text, $2 limit int, $3 one_key bool: only those with the key of the oldest,
--          $4 grows bool: a message that is sent again may take more with it, $5 now timestamptz or null,
--          $6 message_key text or null: of a new message; null: made from the oldest id, $7 tests bool: only tests, or none;
--          null: both
-- Returns: the rows of the message.
-- Locks:   those rows.
-- Index:   escalation_due_idx, escalation_pkey
with waiting as materialized (
  select id, key, message_key
  from millrace.escalation
  where channel = $1
    and sent_at is null
    and undeliverable_at is null
    and coalesce(due_at, '-infinity') <= coalesce($5, now())
    and ($7::bool is null or (kind = 'test') = $7)
  order by message_key is null, id
  limit $2
),
first as (
  select key, message_key, id from waiting limit 1
),
chosen as (
  select waiting.id
  from waiting, first
  where case
    when first.message_key is null then waiting.message_key is null and (not $3 or waiting.key = first.key)
    else waiting.message_key = first.message_key
      or ($4 and waiting.message_key is null and (not $3 or waiting.key = first.key))
  end
  order by waiting.message_key is null, waiting.id
  limit $2
)
update millrace.escalation
set message_key = coalesce(first.message_key, $6, 'millrace-' || first.id),
  repeats = repeats + case when escalation.message_key is null then 0 else 1 end,
  tries = tries + 1, last_try_at = clock_timestamp()
from chosen, first
where escalation.id = chosen.id
returning escalation.*;
