-- Since when the longest run has been running, and the oldest dead letter has been waiting for a decision.
-- Params:  none
-- Returns: one row: running_since, dead_since, each null if there is none
-- Locks:   none
-- Index:   job_running_idx, as many entries as there are runs; dead_letter_by_shown_status_idx, one entry
select
  (select min(started_at) from millrace.job where status = 'processing') as running_since,
  (select min(died_at) from millrace.dead_letter_jobs where initcap(status) = 'Pending') as dead_since;
