-- Jobs of tenants that may not run leave the walk of governed claims: a claim parks them as 'blocked', until a time or ('infinity')
-- until a claim finds that their tenant may run.
alter table millrace.job add column parked_until timestamptz;
