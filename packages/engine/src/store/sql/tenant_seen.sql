-- What an enqueue has to know about tenants; those it sees for the first time are registered.
-- Params:  $1 names text[]
-- Returns: name, status, reason and limits of those that are not active or have limits: [queue, max_jobs, on_excess]
-- Locks:   the rows of new tenants.
-- Index:   tenant_pkey, tenant_queue_pkey
with seen as (
  insert into millrace.tenant (name)
  select name from unnest($1::text[]) as given (name)
  where not exists (select from millrace.tenant where tenant.name = given.name)
  on conflict (name) do nothing
)
select name, status, reason,
  (select jsonb_agg(jsonb_build_array(queue, max_jobs, on_excess)) from millrace.tenant_queue
   where tenant_queue.tenant = tenant.name) as limits
from millrace.tenant
where name = any($1)
  and (status <> 'active' or exists (select from millrace.tenant_queue where tenant_queue.tenant = tenant.name));
