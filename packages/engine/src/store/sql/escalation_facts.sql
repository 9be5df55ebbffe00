-- What messages say about escalations beyond their rows: the letters of dead jobs, and the owners of queues.
-- Params:  $1 ids bigint[]
-- Returns: one row each, by id.
-- Locks:   none
-- Index:   escalation_pkey, dead_letter_by_job_idx, catalogue_entry_pkey
select escalation.id, letter.id as letter_id, letter.error_message, letter.error_details ->> 'class' as error_class,
  letter.status as letter_status, letter.original_job -> 'payload' as payload, letter.correlation_id,
  coalesce(nullif(declared.document ->> 'title', ''), escalation.queue) as queue_title,
  nullif(declared.document -> 'owner', 'null') as owner
from millrace.escalation
left join millrace.dead_letter_jobs as letter on letter.job_id = escalation.job_id
left join millrace.catalogue_entry as declared on declared.kind = 'queue' and declared.name = escalation.queue
where escalation.id = any($1::bigint[])
order by escalation.id;
