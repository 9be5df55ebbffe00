-- no-transaction
-- metric_roll_up.sql, metric_letters.sql: letters that were born in an hour, and letters that were decided about.
drop index concurrently if exists millrace.dead_letter_by_death_idx;
-- next statement
create index concurrently dead_letter_by_death_idx on millrace.dead_letter_jobs (died_at);
-- next statement
drop index concurrently if exists millrace.dead_letter_by_decision_idx;
-- next statement
create index concurrently dead_letter_by_decision_idx on millrace.dead_letter_jobs (acknowledged_at)
  where status <> 'pending';
