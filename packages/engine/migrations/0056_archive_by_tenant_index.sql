-- Finds the archived jobs of a tenant, newest first. The pages of a tenant, and every page of a caller who may see some tenants
-- only, took a second beside ten million archived jobs. Jobs without a tenant have no entry, so settling them costs nothing more.
--
-- `on only`: the partitions of today go without it until their time is over, because reading them all here would stop
-- settlements. Partitions that are attached later get it.
create index job_archive_by_tenant_idx on only millrace.job_archive (tenant, id)
  where tenant is not null;

create index job_archive_short_by_tenant_idx on only millrace.job_archive_short (tenant, id)
  where tenant is not null;
alter index millrace.job_archive_by_tenant_idx
  attach partition millrace.job_archive_short_by_tenant_idx;

create index job_archive_standard_by_tenant_idx on only millrace.job_archive_standard (tenant, id)
  where tenant is not null;
alter index millrace.job_archive_by_tenant_idx
  attach partition millrace.job_archive_standard_by_tenant_idx;

create index job_archive_long_by_tenant_idx on only millrace.job_archive_long (tenant, id)
  where tenant is not null;
alter index millrace.job_archive_by_tenant_idx
  attach partition millrace.job_archive_long_by_tenant_idx;
