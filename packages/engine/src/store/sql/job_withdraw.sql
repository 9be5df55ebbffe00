-- Take back jobs that the same transaction has inserted, and what was kept of it: their keys turned out to be held by a window.
-- Params:  $1 ids bigint[]
-- Returns: nothing
-- Locks:   those job rows, which nobody else can see
-- Index:   job_pkey, job_event_by_job_idx
with withdrawn as (
  delete from millrace.job
  where id = any($1::bigint[])
)
delete from millrace.job_event
where job_id = any($1::bigint[]);
