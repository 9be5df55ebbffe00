-- A job that nobody gave a correlation id is the root of its own: null here, 'job-<id>' to everybody who asks. A random
-- id per job cost more to write into the archive's index than the whole rest of the row.
alter table millrace.job
  alter column correlation_id drop not null;

alter table millrace.job_archive
  alter column correlation_id drop not null;

drop index millrace.job_archive_standard_correlation_idx;
create index job_archive_standard_correlation_idx on millrace.job_archive_standard (correlation_id)
  where correlation_id is not null;

drop index millrace.job_archive_long_correlation_idx;
create index job_archive_long_correlation_idx on millrace.job_archive_long (correlation_id)
  where correlation_id is not null;
