-- What is made for download: reports, full exports, and the files that hold them.

create table dartwing.file (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  name text not null,                     -- for people
  media_type text not null,
  bytes bigint not null,
  sha256 text not null,
  created_at timestamptz not null default now()
);
create index file_of_idx on dartwing.file (organization);

create table dartwing.report (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  kind text not null check (kind in ('contacts', 'faxes')),
  format text not null check (format in ('pdf', 'csv')),
  asked_by text not null,
  status text not null default 'waiting' check (status in ('waiting', 'done')),
  file bigint references dartwing.file,
  created_at timestamptz not null default now()
);
create index report_of_idx on dartwing.report (organization);

create table dartwing.export (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  asked_by text not null,
  status text not null default 'waiting' check (status in ('waiting', 'done')),
  file bigint references dartwing.file,
  created_at timestamptz not null default now()
);
create index export_of_idx on dartwing.export (organization);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."file" enable row level security;
alter table "dartwing"."file" force row level security;
drop policy if exists millrace_tenant on "dartwing"."file";
create policy millrace_tenant on "dartwing"."file"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."file" to "dartwing_tenant";

alter table "dartwing"."report" enable row level security;
alter table "dartwing"."report" force row level security;
drop policy if exists millrace_tenant on "dartwing"."report";
create policy millrace_tenant on "dartwing"."report"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."report" to "dartwing_tenant";

alter table "dartwing"."export" enable row level security;
alter table "dartwing"."export" force row level security;
drop policy if exists millrace_tenant on "dartwing"."export";
create policy millrace_tenant on "dartwing"."export"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."export" to "dartwing_tenant";
