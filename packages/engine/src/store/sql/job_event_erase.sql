-- Take people's words out of the history of these jobs; what happened when stays.
-- Params:  $1 ids of jobs bigint[]
-- Returns: nothing
-- Locks:   those rows
-- Index:   job_event_by_job_idx
update millrace.job_event
set detail = '[erased]'
where job_id = any($1::bigint[])
  and event in ('cancel_requested', 'cancelled', 'retried', 'snoozed', 'given_back')
  and detail is not null;
