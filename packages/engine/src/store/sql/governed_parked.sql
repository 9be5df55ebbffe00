-- Which tenants have parked jobs in a queue? A loose index scan: one step per tenant, whatever is parked of it.
-- Params:  $1 queue text
-- Returns: tenant, is_lasting: no time ends it.
-- Locks:   none
-- Index:   job_parked_idx
with recursive walk (tenant, parked_until) as (
  (select tenant, parked_until from millrace.job
   where queue = $1 and status = 'blocked' and parked_until is not null
   order by tenant, priority, run_at, id limit 1)
  union all
  select next.*
  from walk
  cross join lateral (
    select tenant, parked_until from millrace.job
    where queue = $1 and status = 'blocked' and parked_until is not null and tenant > walk.tenant
    order by tenant, priority, run_at, id limit 1
  ) as next
)
select tenant, parked_until = 'infinity' as is_lasting from walk;
