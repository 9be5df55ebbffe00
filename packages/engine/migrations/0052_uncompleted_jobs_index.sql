-- Finds archived jobs that were cancelled or died, newest first, and counts them: they are few among those that completed, which
-- have no entry here. Counting 10,000 dead jobs among 10 million took longer than two seconds without it.
--
-- `on only`: the partitions of today go without it until their time is over, because reading them all here would stop
-- settlements. Partitions that are attached later get it.
create index job_archive_uncompleted_idx on only millrace.job_archive (status, id)
  where status <> 'completed';

create index job_archive_short_uncompleted_idx on only millrace.job_archive_short (status, id)
  where status <> 'completed';
alter index millrace.job_archive_uncompleted_idx
  attach partition millrace.job_archive_short_uncompleted_idx;

create index job_archive_standard_uncompleted_idx on only millrace.job_archive_standard (status, id)
  where status <> 'completed';
alter index millrace.job_archive_uncompleted_idx
  attach partition millrace.job_archive_standard_uncompleted_idx;

create index job_archive_long_uncompleted_idx on only millrace.job_archive_long (status, id)
  where status <> 'completed';
alter index millrace.job_archive_uncompleted_idx
  attach partition millrace.job_archive_long_uncompleted_idx;
