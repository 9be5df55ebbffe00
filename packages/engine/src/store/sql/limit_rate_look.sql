-- What some tenants have started lately under limits that each of them has for itself.
-- Params:  $1 names text[], $2 tenants text[], none of them twice
-- Returns: name, tenant, starts, held_until_s
-- Locks:   none
-- Index:   limit_rate_pkey, one probe per name and tenant: tenants that are not asked for cost nothing.
select rate.name, rate.tenant, rate.starts, extract(epoch from rate.held_until)::float8 as held_until_s
from unnest($1::text[]) as limited (name)
cross join unnest($2::text[]) as asked (tenant)
cross join lateral (
  select * from millrace.limit_rate
  where limit_rate.name = limited.name and limit_rate.tenant = asked.tenant
  limit 1
) as rate;
