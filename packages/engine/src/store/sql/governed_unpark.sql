-- Let parked jobs be claimed: those whose time has come, and so many of tenants that may run. Under the queue's lock.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 tenants text[], $4 rooms int[]: how many of each, $5 limit int
-- Returns: id, queue, tenant, type, priority, run_at_s of those jobs.
-- Locks:   those job rows, skipping what others hold.
-- Index:   job_parked_idx, job_parked_until_idx, job_pkey
with parked as materialized (
  (select first.id
   from unnest($3::text[], $4::int[]) as given (tenant, room)
   cross join lateral (
     select id from millrace.job
     where queue = $2 and tenant = given.tenant and status = 'blocked' and parked_until is not null
     order by priority, run_at, id
     limit given.room
   ) as first
   limit $5)
  union
  (select id from millrace.job
   where queue = $2 and status = 'blocked' and parked_until is not null and parked_until <= coalesce($1, now())
   order by parked_until
   limit $5)
),
free as materialized (
  select id from millrace.job
  where id = any(array(select id from parked)) and status = 'blocked'
  for no key update skip locked
)
update millrace.job
set status = 'pending', parked_until = null, updated_at = coalesce($1, now())
where id = any(array(select id from free))
  and status = 'blocked'
returning id, queue, tenant, type, priority, date_part('epoch', run_at) as run_at_s;
