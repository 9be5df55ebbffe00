-- Dedupe modes beyond "at most one live job per key".
--
-- start_key: the dedup key of a job that holds it only until it starts. While the job waits it equals dedup_key; the claim
-- takes dedup_key away, and start_key says afterwards which key it was. Null for all other jobs.
alter table millrace.job
  add column start_key text;

-- Keys that outlive their job: which job was enqueued under them, and until when it stands for all others.
create table millrace.dedup_window (
  tenant     text,
  type       text not null,
  dedup_key  text not null,
  job_id     bigint not null,
  expires_at timestamptz not null
);

create unique index dedup_window_idx on millrace.dedup_window (type, dedup_key, tenant) nulls not distinct;
create index dedup_window_for_prune_idx on millrace.dedup_window (expires_at);
