-- job_requeue.sql: when the job was first due, kept when a retry or a snooze moves its due time. Null: its due time never moved.
alter table millrace.job add column first_due_at timestamptz;
