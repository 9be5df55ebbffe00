-- What tenants have waiting and running in queues, by type. Jobs without a tenant are a row of their own, whose tenant is null.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 tenant text or null: of all
-- Returns: queue, tenant, type, due, ordered, keyed, parked, deferred (jobs that wait, by what they wait in), running, oldest_due_at
-- Locks:   none
-- Index:   those of stats_live.sql, by queue: as many entries as the queues have live jobs.
-- Scheduled jobs are not counted: they ask for nothing yet.
with counted as (
  select queue, tenant, type, count(*) as due, 0 as ordered, 0 as keyed, 0 as parked, 0 as deferred, 0 as running, min(run_at) as oldest
  from millrace.job
  where queue = any($2::text[]) and status = 'pending' and run_at <= coalesce($1, now()) and ($3::text is null or tenant = $3)
  group by queue, tenant, type
  union all
  select queue, tenant, type, 0, count(*) filter (where order_key is not null and deferred_keys is null),
    count(*) filter (where limit_key is not null and order_key is null and deferred_keys is null),
    count(*) filter (where parked_until is not null and order_key is null and limit_key is null and deferred_keys is null),
    count(*) filter (where deferred_keys is not null), 0, min(run_at) filter (where run_at <= coalesce($1, now()))
  from millrace.job
  where queue = any($2::text[]) and status = 'blocked' and ($3::text is null or tenant = $3)
  group by queue, tenant, type
  union all
  select queue, tenant, type, 0, 0, 0, 0, 0, count(*), null
  from millrace.job
  where queue = any($2::text[]) and status = 'processing' and ($3::text is null or tenant = $3)
  group by queue, tenant, type
)
select queue, tenant, type, sum(due)::int as due, sum(ordered)::int as ordered, sum(keyed)::int as keyed, sum(parked)::int as parked,
  sum(deferred)::int as deferred, sum(running)::int as running, min(oldest) as oldest_due_at
from counted
group by queue, tenant, type;
