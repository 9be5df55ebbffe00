-- Dead letters that are grouped, redriven and pruned.
--
-- * A redriven letter names the job that took its place. The letter of that job, if it dies too, counts on: `redrives`
--   says how often the work had been redriven before this death.
-- * `redrive_since` is when the wait for an automatic redrive began: at death, or when the last try was in vain. So a
--   letter that cannot be redriven does not stand at the head of the line for ever.
-- * Lists page by id, so the index on status ends with the id instead of the time of death.

alter table millrace.dead_letter_jobs
  add column redrives integer not null default 0,
  add column redriven_job_id bigint,
  add column redrive_since timestamptz not null default now();

-- dead_letter_list.sql, dead_letter_count.sql
drop index millrace.dead_letter_by_status_idx;
create index dead_letter_by_status_idx on millrace.dead_letter_jobs (status, id);

-- dead_letter_list.sql, for one kind of failure.
create index dead_letter_by_fingerprint_idx on millrace.dead_letter_jobs (fingerprint, id);

-- job_bury.sql: the letter that this job came from.
create unique index dead_letter_by_redriven_job_idx on millrace.dead_letter_jobs (redriven_job_id)
  where redriven_job_id is not null;

-- dead_letter_groups.sql
create index dead_letter_for_groups_idx on millrace.dead_letter_jobs (fingerprint, type, died_at, id)
  where status = 'pending';

-- dead_letter_due.sql: every column before the time is one that a rule names, so nothing is walked in vain.
create index dead_letter_for_redrive_idx on millrace.dead_letter_jobs (type, reason, redrives, redrive_since, id)
  where status = 'pending' and not acknowledged;

-- dead_letter_prune.sql
create index dead_letter_for_prune_idx on millrace.dead_letter_jobs (acknowledged_at)
  where status in ('resolved', 'ignored');
