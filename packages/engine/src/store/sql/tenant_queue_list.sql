-- How many jobs a tenant may have in queues, as far as it was set for it.
-- Params:  $1 tenant text
-- Returns: queue, jobs, over, updated_at, updated_by
-- Locks:   none
-- Index:   tenant_queue_pkey
select queue, max_jobs as jobs, on_excess as over, updated_at, updated_by
from millrace.tenant_queue
where tenant = $1
order by queue;
