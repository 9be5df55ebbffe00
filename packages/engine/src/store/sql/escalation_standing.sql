-- How the outbox stands, for health checks.
-- Params:  $1 now timestamptz or null, $2 deliver_type text
-- Returns: one row: unsent: due and not sent, oldest_unsent_at, undeliverable, overdue; deliverers: living workers that deliver.
-- Locks:   none
-- Index:   escalation_waiting_idx, escalation_unresolved_idx
with waiting as (
  select
    count(*) filter (where undeliverable_at is null)::int as unsent,
    min(coalesce(due_at, created_at)) filter (where undeliverable_at is null) as oldest_unsent_at,
    count(*) filter (where undeliverable_at is not null)::int as undeliverable
  from millrace.escalation
  where sent_at is null
    and coalesce(due_at <= coalesce($1, now()), true)
),
unanswered as (
  select count(*)::int as overdue
  from millrace.escalation
  where resolved_at is null
    and acknowledged_at is null
    and respond_by < coalesce($1, now())
)
select waiting.*, unanswered.overdue,
  (select count(*) from millrace.worker where ended_at is null and expires_at > now() and $2 = any(types))::int as deliverers
from waiting, unanswered;
