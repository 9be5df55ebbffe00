-- Schedules that were created at run time, and whose payload may have to be erased.
-- Params:  $1 job_type or null, $2 jsonb that the payload must contain or null
-- Returns: name, job_type, payload and tenant; tenant is null if its jobs have none, or theirs is in the payload, or if it has
--          one job per tenant: then is_per_tenant.
-- Locks:   none
-- Index:   none: there are few schedules
select name, job_type, payload, options ->> 'tenant' as tenant, (options ->> 'perTenant')::boolean as is_per_tenant
from millrace.schedule
where source = 'runtime'
  and ($1::text is null or job_type = $1)
  and ($2::jsonb is null or payload @> $2)
order by name;
