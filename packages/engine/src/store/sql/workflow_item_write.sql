-- Write the jobs of a step that starts, or that undo it. An item that had a job before, which failed, gets the new one.
-- Params:  $1 workflow_id bigint, $2 position int, $3 kind text, $4 items int[], $5 job_ids bigint[],
--          $6 payloads jsonb (an array, or empty: nothing will ask for them), $7 payload_version int or null
-- Returns: nothing
-- Locks:   those items, none of which has a job that lives
-- Index:   workflow_item_pkey
insert into millrace.workflow_item (workflow_id, position, kind, item, job_id, status, payload, payload_version)
select $1, $2, $3, item, job_id, 'running', payload, $7::int
from rows from (unnest($4::int[], $5::bigint[]), jsonb_array_elements($6::jsonb)) as given (item, job_id, payload)
on conflict (workflow_id, position, kind, item) do update
set job_id = excluded.job_id, status = 'running', payload = excluded.payload, payload_version = excluded.payload_version,
    result = null, reason = null;
