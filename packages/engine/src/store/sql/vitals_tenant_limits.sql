-- How many jobs tenants may have in queues, where that was set for the tenant itself.
-- Params:  $1 tenants text[], $2 queues text[], by position
-- Returns: tenant, queue, jobs
-- Locks:   none
-- Index:   tenant_queue_pkey
select tenant, queue, max_jobs as jobs
from millrace.tenant_queue
where (tenant, queue) in (select * from unnest($1::text[], $2::text[]));
