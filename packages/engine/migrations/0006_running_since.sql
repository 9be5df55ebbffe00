-- What a worker runs is looked up from the start of its oldest run: what ended before leaves dead entries, and while
-- somebody keeps a transaction open nothing removes them.
drop index millrace.job_running_idx;
create index job_running_idx on millrace.job (worker_id, started_at)
  where status = 'processing';
