-- Is there anything to rescue? Asked before every sweep, as most find nothing: one statement, no transaction.
-- Params:  $1 now timestamptz or null, for deadlines; leases live on the database's own clock.
-- Returns: one row of booleans: expired (a lease ran out), orphaned (a running job's worker holds no lease any more),
--          overdue (a run is stuck on a worker that has shown life since), blocked (keyed or deferred jobs wait for
--          admission)
-- Locks:   none: worker_expire.sql, job_orphans.sql and job_overdue.sql decide.
-- Index:   job_running_idx, worker_pkey, job_blocked_by_order_idx, job_blocked_by_limit_idx, job_deferred_idx
-- The first deadline of a worker speaks for the others: if it is not overdue, none of them is.
with running as materialized (
  select worker_id, min(deadline_at) as first_deadline_at
  from millrace.job
  where status = 'processing'
  group by worker_id
),
lease as materialized (
  select id, expires_at, heartbeat_at
  from millrace.worker
  where ended_at is null
)
select
  exists (select from lease where expires_at < now()) as expired,
  exists (select from running where not exists (select from lease where lease.id = running.worker_id)) as orphaned,
  exists (
    select from running
    join lease on lease.id = running.worker_id
    where running.first_deadline_at < coalesce($1, now())
      and lease.heartbeat_at > running.first_deadline_at
  ) as overdue,
  coalesce(
    (select true from millrace.job where status = 'blocked' and order_key is not null
     order by queue, coalesce(tenant, ''), order_key limit 1),
    (select true from millrace.job where status = 'blocked' and limit_key is not null
     order by queue, coalesce(tenant, ''), limit_key limit 1),
    (select true from millrace.job where status = 'blocked' and deferred_keys is not null
     order by queue, tenant, id limit 1),
    false
  ) as blocked;
