-- How the outbox stands, for health checks.
-- Params:  $1 now timestamptz or null, $2 deliver_type text
-- Returns: one row: unsent: due and not sent, oldest_unsent_at, undeliverable, overdue; deliverers: living workers that deliver.
-- Locks:   none
-- Index:   escalation_unrouted_idx, escalation_unsent_idx
select
  count(*) filter (where is_due)::int as unsent,
  min(coalesce(due_at, created_at)) filter (where is_due) as oldest_unsent_at,
  count(*) filter (where sent_at is null and undeliverable_at is not null)::int as undeliverable,
  count(*) filter (where resolved_at is null and acknowledged_at is null and respond_by < coalesce($1, now()))::int as overdue,
  (select count(*) from millrace.worker where ended_at is null and expires_at > now() and $2 = any(types))::int as deliverers
from millrace.escalation
cross join lateral (
  select sent_at is null and undeliverable_at is null and coalesce(due_at <= coalesce($1, now()), true) as is_due
) as standing
where sent_at is null or resolved_at is null;
