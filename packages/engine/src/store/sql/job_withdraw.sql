-- Take back jobs that the same transaction has inserted: their keys turned out to be held by a window.
-- Params:  $1 ids bigint[]
-- Returns: nothing
-- Locks:   those job rows, which nobody else can see
-- Index:   job_pkey
delete from millrace.job
where id = any($1::bigint[]);
