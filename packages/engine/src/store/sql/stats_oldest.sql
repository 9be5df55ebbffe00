-- How many jobs wait for another attempt, since when the longest run has been running, and since when the oldest dead letter has
-- been waiting for a decision.
-- Params:  none
-- Returns: one row: failed, running_since and dead_since, each null if there is none
-- Locks:   none
-- Index:   job_failed_idx without the table; job_running_idx, as many entries as there are runs; dead_letter_by_shown_status_idx, one entry
select
  (select count(*)::int from millrace.job where status = 'pending' and last_error_at is not null) as failed,
  (select min(started_at) from millrace.job where status = 'processing') as running_since,
  (select min(died_at) from millrace.dead_letter_jobs where initcap(status) = 'Pending') as dead_since;
