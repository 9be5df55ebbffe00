-- How much of other programs' work a database holds, for a demo that would mix its own with it.
-- Params:  none
-- Returns: one row: jobs (live and archived, counted up to 1,000), letters, workflows (bool: any)
-- Locks:   none
-- Index:   none is needed: it stops at the thousandth row.
select
  (select count(*) from (select from millrace.job limit 1000) as counted)::int
    + (select count(*) from (select from millrace.job_archive limit 1000) as counted)::int as jobs,
  exists (select from millrace.dead_letter_jobs) or exists (select from millrace.job_attempt) as letters,
  exists (select from millrace.workflow) as workflows;
