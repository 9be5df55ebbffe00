-- Jobs of tenants that may not run leave the walk of governed claims: a claim parks them as 'blocked', until a time or ('infinity')
-- until a claim finds that their tenant may run. Other jobs are in none of these indexes.
alter table millrace.job add column parked_until timestamptz;

-- governed_unpark.sql, governed_parked.sql, tenant_count.sql: the next of a tenant, and which tenants have one.
create index job_parked_idx on millrace.job (queue, tenant, priority, run_at, id)
  where status = 'blocked' and parked_until is not null;

-- governed_standing.sql, governed_unpark.sql: whose time has come.
create index job_parked_until_idx on millrace.job (queue, parked_until)
  where status = 'blocked' and parked_until is not null;

-- By which version of the rules, and when, the parked tenants of the queue were looked at last. Null: never.
alter table millrace.queue_turn
  add column parked_version bigint,
  add column parked_checked_at timestamptz;
