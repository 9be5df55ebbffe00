-- Say which job works on a bulk operation.
-- Params:  $1 id bigint, $2 job_id bigint
-- Returns: nothing.
-- Locks:   that row
-- Index:   bulk_operation_pkey
update millrace.bulk_operation
set job_id = $2
where id = $1;
