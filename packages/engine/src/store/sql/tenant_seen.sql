-- What an enqueue has to know about tenants; those it sees for the first time are registered.
-- Params:  $1 names text[]
-- Returns: name, status, reason and limits of those that are not active, have limits ([queue, max_jobs, on_excess]), or were
--          written by this transaction: those are is_new.
-- Locks:   the rows of new tenants. Waits for another transaction that registers the same one.
-- Index:   tenant_pkey, tenant_queue_pkey
with seen as (
  insert into millrace.tenant (name)
  select name from unnest($1::text[]) as given (name)
  where not exists (select from millrace.tenant where tenant.name = given.name)
  on conflict (name) do nothing
  returning name, status, reason
),
known as (
  select name, status, reason, coalesce(xmin = pg_current_xact_id_if_assigned()::xid, false) as is_new,
    (select jsonb_agg(jsonb_build_array(queue, max_jobs, on_excess)) from millrace.tenant_queue
     where tenant_queue.tenant = tenant.name) as limits
  from millrace.tenant
  where name = any($1)
)
select name, status, reason, limits, is_new
from known
where status <> 'active' or limits is not null or is_new
union all
select name, status, reason, null, true
from seen;
