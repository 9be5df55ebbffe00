-- no-transaction
-- Escalations that are not resolved, and such as were not sent, among all those of 90 days.
--
-- escalation_settled.sql, escalation_standing.sql, escalation_list.sql
drop index concurrently if exists millrace.escalation_unresolved_idx;
-- next statement
create index concurrently escalation_unresolved_idx on millrace.escalation (id) where resolved_at is null;
-- next statement
-- escalation_standing.sql, escalation_list.sql
drop index concurrently if exists millrace.escalation_waiting_idx;
-- next statement
create index concurrently escalation_waiting_idx on millrace.escalation (id) where sent_at is null;
-- next statement
-- escalation_due.sql: whether something is due for a channel, however much waits for its next digest.
drop index concurrently if exists millrace.escalation_due_idx;
-- next statement
create index concurrently escalation_due_idx on millrace.escalation (channel, coalesce(due_at, '-infinity'))
  where sent_at is null and undeliverable_at is null and channel is not null;
