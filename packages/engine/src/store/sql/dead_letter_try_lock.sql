-- Before an automatic redrive: as dead_letter_lock.sql, but what another process is redriving right now is left to it.
-- Params:  $1 ids bigint[]
-- Returns: the letters that were free, in id order.
-- Locks:   those letters, in id order, skipping what somebody holds.
-- Index:   dead_letter_jobs_pkey, workflow_pkey
select
  id, status, acknowledged, acknowledged_by, redriven_job_id, workflow_id,
  (select workflow.status from millrace.workflow where workflow.id = workflow_id) as workflow_status
from millrace.dead_letter_jobs
where id = any($1::bigint[])
order by id
for no key update skip locked;
