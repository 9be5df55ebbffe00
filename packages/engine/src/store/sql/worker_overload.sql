-- Write down that a worker is overloaded, or is so no longer.
-- Params:  $1 id uuid, $2 overload jsonb or null: why, since, queues that yield
-- Returns: nothing.
-- Locks:   the worker's row
-- Index:   worker_pkey
update millrace.worker
set overload = $2::jsonb
where id = $1;
