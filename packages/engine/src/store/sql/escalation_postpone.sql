-- The digest of this day was sent already: what came too late for it waits for the next one.
-- Params:  $1 channel text, $2 message_key text, $3 due_at timestamptz
-- Returns: nothing if that message has not been sent, else a row with how many wait.
-- Locks:   those rows.
-- Index:   escalation_sent_idx, escalation_unsent_idx
with sent as materialized (
  select from millrace.escalation
  where channel = $1 and sent_at is not null and message_key = $2
  limit 1
),
postponed as (
  update millrace.escalation
  set due_at = $3, message_key = null
  where channel = $1
    and sent_at is null
    and undeliverable_at is null
    and due_at < $3
    and exists (select from sent)
  returning id
)
select (select count(*) from postponed)::int as postponed
from sent;
