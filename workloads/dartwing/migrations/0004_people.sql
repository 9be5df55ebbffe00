-- What reaches people, and how they are signed in: notifications, sessions, integrations.

create table dartwing.notification (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  recipient text not null,                -- a login, or 'admins'
  title text not null,
  body text not null,
  template text,
  about text,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  unique (organization, template, about, recipient)
);
create index notification_inbox_idx on dartwing.notification (organization, recipient, id);

create table dartwing.push_subscription (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  person_login text not null,
  endpoint text not null,
  p256dh text not null,
  sealed_auth text not null,
  created_at timestamptz not null default now(),
  unique (organization, endpoint)
);

create table dartwing.user_session (
  organization text not null references dartwing.organization,
  keycloak_session text not null,
  keycloak_user uuid not null,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  primary key (organization, keycloak_session)
);

create table dartwing.integration (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  title text not null,
  issuer text not null,
  client_id text not null,
  sealed_client_secret text not null,
  scopes text not null default '',
  sealed_refresh_token text not null,
  sealed_access_token text,
  expires_at timestamptz,
  state text not null default 'active' check (state in ('active', 'needs_reauthorization')),
  problem text
);
create index integration_of_idx on dartwing.integration (organization);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."notification" enable row level security;
alter table "dartwing"."notification" force row level security;
drop policy if exists millrace_tenant on "dartwing"."notification";
create policy millrace_tenant on "dartwing"."notification"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."notification" to "dartwing_tenant";

alter table "dartwing"."push_subscription" enable row level security;
alter table "dartwing"."push_subscription" force row level security;
drop policy if exists millrace_tenant on "dartwing"."push_subscription";
create policy millrace_tenant on "dartwing"."push_subscription"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."push_subscription" to "dartwing_tenant";

alter table "dartwing"."user_session" enable row level security;
alter table "dartwing"."user_session" force row level security;
drop policy if exists millrace_tenant on "dartwing"."user_session";
create policy millrace_tenant on "dartwing"."user_session"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."user_session" to "dartwing_tenant";

alter table "dartwing"."integration" enable row level security;
alter table "dartwing"."integration" force row level security;
drop policy if exists millrace_tenant on "dartwing"."integration";
create policy millrace_tenant on "dartwing"."integration"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."integration" to "dartwing_tenant";
