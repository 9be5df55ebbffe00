-- no-transaction
-- Parked jobs (see 0025) and deferred ones (see 0034). Other jobs are in none of these indexes.
--
-- governed_unpark.sql, governed_parked.sql, tenant_count.sql: the next of a tenant, and which tenants have one.
drop index concurrently if exists millrace.job_parked_idx;
-- next statement
create index concurrently job_parked_idx on millrace.job (queue, tenant, priority, run_at, id)
  where status = 'blocked' and parked_until is not null;
-- next statement
-- governed_standing.sql, governed_unpark.sql: whose time has come.
drop index concurrently if exists millrace.job_parked_until_idx;
-- next statement
create index concurrently job_parked_until_idx on millrace.job (queue, parked_until)
  where status = 'blocked' and parked_until is not null;
-- next statement
-- tenant_admit.sql, tenant_deferred.sql, tenant_count.sql: the next of a tenant, and which tenants have one.
drop index concurrently if exists millrace.job_deferred_idx;
-- next statement
create index concurrently job_deferred_idx on millrace.job (queue, tenant, id)
  where status = 'blocked' and deferred_keys is not null;
