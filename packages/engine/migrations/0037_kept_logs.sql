-- The last log lines of runs that ended without failing, where a queue or type keeps them.
alter table millrace.job_archive add column logs jsonb;
