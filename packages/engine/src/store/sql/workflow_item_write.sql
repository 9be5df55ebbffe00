-- Write the jobs of steps that start, or that undo them. An item that had a job before, which failed, gets the new one.
-- Params:  $1 workflow_id bigint, $2 kind text; of each: $3 positions int[], $4 items int[], $5 job_ids bigint[],
--          null: the job that was inserted last in this transaction, $6 payload_versions int[], null: nothing will ask for
--          the payload, $7 payloads jsonb (an array, or empty: for none)
-- Returns: nothing
-- Locks:   those items, none of which has a job that lives
-- Index:   workflow_item_pkey
insert into millrace.workflow_item (workflow_id, position, kind, item, job_id, status, payload, payload_version)
select
  $1, position, $2, item, coalesce(job_id, currval('millrace.job_id_seq')), 'running',
  case when version is not null then payload end, version
from rows from (
  unnest($3::int[], $4::int[], $5::bigint[], $6::int[]),
  jsonb_array_elements($7::jsonb)
) as given (position, item, job_id, version, payload)
on conflict (workflow_id, position, kind, item) do update
set job_id = excluded.job_id, status = 'running', payload = excluded.payload, payload_version = excluded.payload_version,
    result = null, reason = null;
