-- Limit the jobs of a tenant in a queue.
-- Params:  $1 tenant text, $2 queue text, $3 max_jobs int, $4 on_excess text, $5 actor text
-- Returns: nothing.
-- Locks:   its row.
insert into millrace.tenant_queue (tenant, queue, max_jobs, on_excess, updated_by)
values ($1, $2, $3, $4, $5)
on conflict (tenant, queue) do update
set max_jobs = excluded.max_jobs, on_excess = excluded.on_excess, updated_at = now(), updated_by = excluded.updated_by;
