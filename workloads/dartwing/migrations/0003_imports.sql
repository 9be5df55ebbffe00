-- Imports of contacts from CSV files: the file, its batches, and the rows that were refused.

create table dartwing.import (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  file text not null,                     -- its name in the folder of the organization
  asked_by text not null,                 -- an e-mail address: gets the counts
  status text not null default 'waiting' check (status in ('waiting', 'running', 'completed', 'cancelled', 'refused')),
  problem text,                           -- why the whole file was refused
  header jsonb,
  delimiter text,
  rows integer,
  batches integer,
  done integer not null default 0,        -- batches
  inserted integer not null default 0,
  updated integer not null default 0,
  refused integer not null default 0,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index import_of_idx on dartwing.import (organization, id);

create table dartwing.import_batch (
  organization text not null references dartwing.organization,
  import bigint not null references dartwing.import,
  batch integer not null,
  ended_at timestamptz not null default now(),
  primary key (import, batch)
);
create index import_batch_of_idx on dartwing.import_batch (organization);

create table dartwing.import_error (
  organization text not null references dartwing.organization,
  import bigint not null references dartwing.import,
  line integer not null,                  -- of the file, from 1
  column_name text,                       -- null: the row as a whole
  problem text not null,
  primary key (import, line)
);
create index import_error_of_idx on dartwing.import_error (organization);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."import" enable row level security;
alter table "dartwing"."import" force row level security;
drop policy if exists millrace_tenant on "dartwing"."import";
create policy millrace_tenant on "dartwing"."import"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."import" to "dartwing_tenant";

alter table "dartwing"."import_batch" enable row level security;
alter table "dartwing"."import_batch" force row level security;
drop policy if exists millrace_tenant on "dartwing"."import_batch";
create policy millrace_tenant on "dartwing"."import_batch"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."import_batch" to "dartwing_tenant";

alter table "dartwing"."import_error" enable row level security;
alter table "dartwing"."import_error" force row level security;
drop policy if exists millrace_tenant on "dartwing"."import_error";
create policy millrace_tenant on "dartwing"."import_error"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."import_error" to "dartwing_tenant";
