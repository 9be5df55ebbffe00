-- Let the keys go on that the deaths of these jobs have stopped: nobody can redrive what was erased.
-- Params:  $1 ids of jobs bigint[]
-- Returns: queue, tenant, key of each
-- Locks:   those rows
-- Index:   order_stop_by_job_idx
delete from millrace.order_stop
where job_id = any($1::bigint[])
returning queue, tenant, order_key as key;
