-- What lives, by queue and type, and by queue and tenant of the tenants with most jobs.
-- Params:  $1 now timestamptz or null, $2 limit int, of the tenants' rows
-- Returns: queue, type, tenant (null in rows of a type), waiting, due, oldest_due_at, running, blocked, failed,
--          without_tenant: of those that wait or run (0 in rows of a tenant)
-- Locks:   none
-- Index:   job_for_claim_by_type_idx, job_for_share_by_type_idx and job_failed_idx without the table; job_suspect_idx, job_running_idx,
--          job_blocked_by_order_idx, job_blocked_by_limit_idx, job_parked_idx, job_deferred_idx. As many entries as there are live jobs, in their
--          order: the groups need no sort. Each job is in exactly one of the parts but the last.
with counted as materialized (
  select queue, type, null as tenant, count(*) as pending, count(*) filter (where run_at <= coalesce($1, now())) as due,
    min(run_at) as oldest, 0 as running, 0 as blocked, 0 as failed
  from millrace.job where status = 'pending' and crashes = 0 and tenant is null group by queue, type
  union all
  select queue, type, tenant, count(*), count(*) filter (where run_at <= coalesce($1, now())),
    min(run_at), 0, 0, 0
  from millrace.job where status = 'pending' and crashes = 0 and tenant is not null group by queue, tenant, type
  union all
  select queue, type, tenant, count(*), count(*) filter (where run_at <= coalesce($1, now())),
    min(run_at), 0, 0, 0
  from millrace.job where status = 'pending' and crashes > 0 group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, count(*), 0, 0
  from millrace.job where status = 'processing' group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, 0, count(*), 0
  from millrace.job where status = 'blocked' and order_key is not null group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, 0, count(*), 0
  from millrace.job where status = 'blocked' and limit_key is not null and order_key is null group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, 0, count(*), 0
  from millrace.job
  where status = 'blocked' and parked_until is not null and order_key is null and limit_key is null group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, 0, count(*), 0
  from millrace.job where status = 'blocked' and deferred_keys is not null group by queue, tenant, type
  union all
  select queue, type, tenant, 0, 0, null, 0, 0, count(*)
  from millrace.job where status = 'pending' and last_error_at is not null group by queue, type, tenant
),
tenants as (
  select queue, null as type, tenant, sum(pending + blocked) as waiting, sum(due) as due, min(oldest) as oldest,
    sum(running) as running, sum(blocked) as blocked, sum(failed) as failed
  from counted where tenant is not null group by queue, tenant
  order by sum(pending + blocked + running) desc, queue, tenant
  limit $2
)
select queue, type, null as tenant, sum(pending + blocked)::int as waiting, sum(due)::int as due,
  case when sum(due) > 0 then min(oldest) end as oldest_due_at,
  sum(running)::int as running, sum(blocked)::int as blocked, sum(failed)::int as failed,
  coalesce(sum(pending + blocked + running) filter (where tenant is null), 0)::int as without_tenant
from counted group by queue, type
union all
select queue, type, tenant, waiting::int, due::int, case when due > 0 then oldest end, running::int, blocked::int, failed::int, 0
from tenants;
