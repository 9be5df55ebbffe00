-- Dead letters with everything that was kept of them.
-- Params:  $1 ids bigint[]
-- Returns: the letters, in no order; no row for an id that is not there.
-- Locks:   none
-- Index:   dead_letter_jobs_pkey, workflow_pkey
select
  id, job_id, type, queue, tenant, correlation_id, reason, attempts, error_details->>'class' as error_class,
  error_message, fingerprint, status, acknowledged, acknowledged_by, acknowledged_at, notes, redrives, redriven_job_id,
  died_at, workflow_id, (select workflow.status from millrace.workflow where workflow.id = workflow_id) as workflow_status,
  error_details, original_job
from millrace.dead_letter_jobs
where id = any($1::bigint[]);
