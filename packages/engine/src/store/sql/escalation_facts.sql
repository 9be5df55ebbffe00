-- What messages say about escalations beyond their rows: the letters of dead jobs, and the owners of queues.
-- Params:  $1 ids bigint[]
-- Returns: one row each, by id. Error and payload only for the last of each key, and the payload only if its type has attributes.
-- Locks:   none
-- Index:   escalation_pkey, dead_letter_by_job_idx, catalogue_entry_pkey
with wanted as (
  select id, job_id, queue, type, id = max(id) over (partition by key) as is_last
  from millrace.escalation
  where id = any($1::bigint[])
)
select wanted.id, letter.status as letter_status, letter.correlation_id,
  case when is_last then left(letter.error_message, 4000) end as error_message,
  case when is_last then letter.error_details ->> 'class' end as error_class,
  case when is_last and jsonb_array_length(contract.document -> 'attributes') > 0
    then letter.original_job -> 'payload' end as payload,
  coalesce(declared.document ->> 'title', wanted.queue) as queue_title,
  nullif(declared.document -> 'owner', 'null') as owner
from wanted
left join millrace.dead_letter_jobs as letter on letter.job_id = wanted.job_id
left join millrace.catalogue_entry as declared on declared.kind = 'queue' and declared.name = wanted.queue
left join millrace.catalogue_entry as contract on contract.kind = 'type' and contract.name = wanted.type
order by wanted.id;
