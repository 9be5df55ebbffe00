-- Forget what these jobs have recorded by ctx.once: results and keys are made of what the jobs carried.
-- Params:  $1 ids of jobs bigint[]
-- Returns: nothing
-- Locks:   those rows
-- Index:   once_key_by_job_idx
delete from millrace.once_key
where job_id = any($1::bigint[]);
