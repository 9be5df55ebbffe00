-- Work without a connection: devices, what they upload, and what they lost to others.

create table dartwing.sync_device (
  organization text not null references dartwing.organization,
  device text not null check (device ~ '^[a-z0-9-]{1,40}$'),
  token_sha256 text not null,
  login text not null,
  primary key (organization, device)
);

create table dartwing.sync_delta (
  organization text not null references dartwing.organization,
  device text not null,
  delta uuid not null,
  changes jsonb not null,
  received_at timestamptz not null default now(),
  applied_at timestamptz,
  server_seq bigint,
  primary key (organization, delta)
);

-- Both values of a change that was made without knowing the other: nothing is lost silently.
create table dartwing.sync_conflict (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  doctype text not null,
  name text not null,
  field text not null,
  kept jsonb not null,                    -- { value, stamp }
  lost jsonb not null,
  delta uuid not null,
  noticed_at timestamptz not null default now()
);
create index sync_conflict_of_idx on dartwing.sync_conflict (organization, id);

-- One counter for each organization. It is locked last in a transaction, so the order of its numbers is that of the commits.
create table dartwing.sync_head (
  organization text primary key references dartwing.organization,
  server_seq bigint not null default 0
);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."sync_device" enable row level security;
alter table "dartwing"."sync_device" force row level security;
drop policy if exists millrace_tenant on "dartwing"."sync_device";
create policy millrace_tenant on "dartwing"."sync_device"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."sync_device" to "dartwing_tenant";

alter table "dartwing"."sync_delta" enable row level security;
alter table "dartwing"."sync_delta" force row level security;
drop policy if exists millrace_tenant on "dartwing"."sync_delta";
create policy millrace_tenant on "dartwing"."sync_delta"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."sync_delta" to "dartwing_tenant";

alter table "dartwing"."sync_conflict" enable row level security;
alter table "dartwing"."sync_conflict" force row level security;
drop policy if exists millrace_tenant on "dartwing"."sync_conflict";
create policy millrace_tenant on "dartwing"."sync_conflict"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."sync_conflict" to "dartwing_tenant";

alter table "dartwing"."sync_head" enable row level security;
alter table "dartwing"."sync_head" force row level security;
drop policy if exists millrace_tenant on "dartwing"."sync_head";
create policy millrace_tenant on "dartwing"."sync_head"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."sync_head" to "dartwing_tenant";
