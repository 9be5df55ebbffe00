-- Organizations, their people, and the records that everybody in an organization works on.

-- Handlers see rows under this role, as far as row security lets them. It logs in nowhere and owns nothing.
do $$
begin
  if not exists (select from pg_roles where rolname = 'dartwing_tenant') then
    begin
      create role dartwing_tenant nologin;
    exception
      -- Another database of this server was migrated at the same time.
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'The login % may not create roles.', current_user
          using hint = format('An administrator runs: create role dartwing_tenant nologin; grant dartwing_tenant to %I;', current_user);
    end;
  end if;
  if not pg_has_role(current_user, 'dartwing_tenant', 'member') then
    begin
      execute format('grant dartwing_tenant to %I', current_user);
    exception
      when insufficient_privilege then
        raise exception 'The login % may not use the role dartwing_tenant.', current_user
          using hint = format('An administrator runs: grant dartwing_tenant to %I;', current_user);
    end;
  end if;
end
$$;

grant usage on schema dartwing to dartwing_tenant;

-- The directory. The login reads all of it, and the tenant role only its own row: enabled, not forced.
create table dartwing.organization (
  name text primary key check (name ~ '^ORG-\d{4}-\d{5}$'),
  title text not null check (title <> ''),
  status text not null default 'Active' check (status in ('Active', 'Suspended')),
  created_at timestamptz not null default now()
);
alter table dartwing.organization enable row level security;
create policy own_row on dartwing.organization
  using (name = (select nullif(current_setting('millrace.tenant', true), '')));
grant select on dartwing.organization to dartwing_tenant;

create table dartwing.person (
  id bigint generated always as identity primary key,
  full_name text not null,
  frappe_user text not null unique,       -- their login, an e-mail address
  keycloak_user uuid unique
);

create table dartwing.org_member (
  organization text not null references dartwing.organization,
  person bigint not null references dartwing.person,
  role text not null check (role in ('Admin', 'Member')),
  status text not null default 'Active' check (status in ('Active', 'Left')),
  since timestamptz not null default now(),
  primary key (organization, person)
);

-- A person may be in several organizations: members of the current one are seen, and cannot be changed. Not forced, because only
-- the login adds people.
alter table dartwing.person enable row level security;
create policy members on dartwing.person for select
  using (id in (select person from dartwing.org_member
                where organization = (select nullif(current_setting('millrace.tenant', true), ''))));
grant select on dartwing.person to dartwing_tenant;

-- Tasks and contacts are worked on offline: clocks holds a stamp for each field.
create table dartwing.task (
  organization text not null references dartwing.organization,
  name text not null,
  fields jsonb not null default '{}',
  clocks jsonb not null default '{}',
  deleted boolean not null default false,
  server_seq bigint not null default 0,
  modified_by text not null default coalesce(nullif(current_setting('millrace.acting_user', true), ''), 'system'),
  modified_at timestamptz not null default now(),
  primary key (organization, name)
);
create index task_since_idx on dartwing.task (organization, server_seq);

create table dartwing.contact (
  organization text not null references dartwing.organization,
  name text not null,
  external_id text,
  fields jsonb not null default '{}',
  clocks jsonb not null default '{}',
  deleted boolean not null default false,
  server_seq bigint not null default 0,
  modified_by text not null default coalesce(nullif(current_setting('millrace.acting_user', true), ''), 'system'),
  modified_at timestamptz not null default now(),
  primary key (organization, name)
);
create index contact_since_idx on dartwing.contact (organization, server_seq);
create unique index contact_external_idx on dartwing.contact (organization, external_id);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."org_member" enable row level security;
alter table "dartwing"."org_member" force row level security;
drop policy if exists millrace_tenant on "dartwing"."org_member";
create policy millrace_tenant on "dartwing"."org_member"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."org_member" to "dartwing_tenant";

alter table "dartwing"."task" enable row level security;
alter table "dartwing"."task" force row level security;
drop policy if exists millrace_tenant on "dartwing"."task";
create policy millrace_tenant on "dartwing"."task"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."task" to "dartwing_tenant";

alter table "dartwing"."contact" enable row level security;
alter table "dartwing"."contact" force row level security;
drop policy if exists millrace_tenant on "dartwing"."contact";
create policy millrace_tenant on "dartwing"."contact"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."contact" to "dartwing_tenant";
