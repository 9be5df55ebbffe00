-- Replace what workflow_item_lock_sealed.sql has locked.
-- Params:  $1 job_ids bigint[], $2 payloads jsonb[], $3 results jsonb[]
-- Returns: nothing
-- Locks:   those items
-- Index:   workflow_item_by_job_idx
update millrace.workflow_item
set payload = mine.payload, result = mine.result
from unnest($1::bigint[], $2::jsonb[], $3::jsonb[]) as mine (job_id, payload, result)
where workflow_item.job_id = any($1::bigint[])
  and workflow_item.job_id = mine.job_id;
