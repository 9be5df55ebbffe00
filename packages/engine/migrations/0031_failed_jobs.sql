-- no-transaction
-- stats_live.sql: jobs that wait for another attempt. Others are not in it.
drop index concurrently if exists millrace.job_failed_idx;
-- next statement
create index concurrently job_failed_idx on millrace.job (queue, type, tenant)
  where status = 'pending' and last_error_at is not null;
