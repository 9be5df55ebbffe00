-- What an enqueue has to know about tenants that the caller's transaction sees, its own changes included.
-- Params:  $1 names text[]
-- Returns: name, status, reason and limits ([queue, max_jobs, on_excess]) of those that exist; is_new: written by a transaction
--          that may still be rolled back, also behind a savepoint.
-- Locks:   none
-- Index:   tenant_pkey, tenant_queue_pkey
select name, status, reason,
  (select jsonb_agg(jsonb_build_array(queue, max_jobs, on_excess)) from millrace.tenant_queue
   where tenant_queue.tenant = tenant.name) as limits,
  age(xmin) <= age(pg_snapshot_xmin(pg_current_snapshot())::xid) as is_new
from millrace.tenant
where name = any($1::text[]);
