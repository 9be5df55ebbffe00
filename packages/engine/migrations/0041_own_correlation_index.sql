-- Finds 'job-<id>' in the archive through the views (see 0033). Ids grow with time, so a BRIN index finds the few pages that may
-- hold it. It has no entry per row.
--
-- `on only`: the partitions of today go without it until their time is over, because reading them all here would stop
-- settlements. Partitions that are attached later get it. The index counts as invalid while one goes without; the planner
-- looks only at those of the partitions.
create index job_archive_own_correlation_idx on only millrace.job_archive using brin (('job-' || id::text))
  with (autosummarize = on)
  where correlation_id is null;

create index job_archive_short_own_correlation_idx on only millrace.job_archive_short using brin (('job-' || id::text))
  with (autosummarize = on)
  where correlation_id is null;
alter index millrace.job_archive_own_correlation_idx
  attach partition millrace.job_archive_short_own_correlation_idx;

create index job_archive_standard_own_correlation_idx on only millrace.job_archive_standard using brin (('job-' || id::text))
  with (autosummarize = on)
  where correlation_id is null;
alter index millrace.job_archive_own_correlation_idx
  attach partition millrace.job_archive_standard_own_correlation_idx;

create index job_archive_long_own_correlation_idx on only millrace.job_archive_long using brin (('job-' || id::text))
  with (autosummarize = on)
  where correlation_id is null;
alter index millrace.job_archive_own_correlation_idx
  attach partition millrace.job_archive_long_own_correlation_idx;
