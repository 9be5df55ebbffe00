-- End a bulk operation that runs.
-- Params:  $1 now timestamptz or null, $2 id bigint, $3 status text, $4 cancelled_by or null, $5 error or null
-- Returns: id, if it ran.
-- Locks:   that row
-- Index:   bulk_operation_pkey
update millrace.bulk_operation
set status = $3, finished_at = coalesce($1, now()), cancelled_by = $4, error = $5
where id = $2 and status = 'running'
returning id;
