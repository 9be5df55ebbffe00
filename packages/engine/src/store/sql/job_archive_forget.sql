-- Forget archived jobs by their ids. Jobs of workflows stay: they go with their workflow.
-- Params:  $1 ids bigint[]
-- Returns: id, tenant of those that are gone.
-- Locks:   those rows
-- Index:   job_archive_by_id_idx
delete from millrace.job_archive
where id = any($1::bigint[])
  and workflow_id is null
returning id, tenant;
