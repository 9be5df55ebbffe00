-- Governed runs are counted from the start of the oldest one on: what ended before leaves dead entries, and while somebody keeps a
-- transaction open nothing removes them.
drop index millrace.job_governed_idx;
drop index millrace.job_limited_idx;
create index job_governed_idx on millrace.job (queue, started_at, tenant, type)
  where status = 'processing' and limits is not null;
create index job_limited_idx on millrace.job (queue, started_at)
  where status = 'processing' and limits <> '{}';

-- No governed run of the queue that is not over has started before. Null: nobody knows.
alter table millrace.queue_turn add column running_since timestamptz;
-- Every queue with governed runs has a row.
insert into millrace.queue_turn (queue, tenant)
select distinct queue, '' from millrace.job where status = 'processing' and limits is not null
on conflict (queue) do nothing;
