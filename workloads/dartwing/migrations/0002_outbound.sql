-- What leaves the house: documents and faxes, webhooks, e-mail.

create table dartwing.document (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  title text not null,
  media_type text not null,
  content bytea not null,
  bytes integer generated always as (octet_length(content)) stored,
  sha256 text generated always as (encode(sha256(content), 'hex')) stored,
  created_at timestamptz not null default now()
);
create index document_of_idx on dartwing.document (organization);

create table dartwing.fax (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  document bigint not null references dartwing.document,
  to_number text not null,
  status text not null default 'waiting' check (status in ('waiting', 'sending', 'sent', 'failed')),
  pages integer,
  asked_by text,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index fax_of_idx on dartwing.fax (organization, id);

-- One row for each submission. It commits before the gateway is called, so no submission is forgotten.
create table dartwing.fax_transmission (
  organization text not null references dartwing.organization,
  fax bigint not null references dartwing.fax,
  job bigint not null,
  attempt integer not null,
  gateway_id text,
  state text not null default 'submitting' check (state in ('submitting', 'dialling', 'sent', 'failed')),
  error text,
  submitted_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (job, attempt)
);
create index fax_transmission_of_idx on dartwing.fax_transmission (organization, fax);

create table dartwing.webhook_endpoint (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  url text not null,
  sealed_secrets text not null,           -- a JSON list, newest first: two during a rotation
  disabled_reason text,
  failures_in_a_row integer not null default 0
);
create index webhook_endpoint_of_idx on dartwing.webhook_endpoint (organization);

create table dartwing.webhook_delivery (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  endpoint bigint not null references dartwing.webhook_endpoint,
  event text not null,
  body jsonb not null,
  status integer,                         -- of the last answer
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'refused')),
  created_at timestamptz not null default now(),
  delivered_at timestamptz
);
create index webhook_delivery_of_idx on dartwing.webhook_delivery (organization, endpoint);

create table dartwing.email (
  id bigint generated always as identity primary key,
  organization text not null references dartwing.organization,
  to_address text not null,
  subject text not null check (subject !~ '[\r\n]'),
  body text not null,
  status text not null default 'waiting' check (status in ('waiting', 'sent', 'refused', 'suppressed')),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  check (to_address !~ '[\r\n]')
);
create index email_of_idx on dartwing.email (organization);

-- Addresses that want no mail, or that do not exist.
create table dartwing.email_suppression (
  organization text not null references dartwing.organization,
  address text not null,
  reason text not null,
  since timestamptz not null default now(),
  primary key (organization, address)
);

-- As tenantPolicySql writes them; a test compares.

alter table "dartwing"."document" enable row level security;
alter table "dartwing"."document" force row level security;
drop policy if exists millrace_tenant on "dartwing"."document";
create policy millrace_tenant on "dartwing"."document"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."document" to "dartwing_tenant";

alter table "dartwing"."fax" enable row level security;
alter table "dartwing"."fax" force row level security;
drop policy if exists millrace_tenant on "dartwing"."fax";
create policy millrace_tenant on "dartwing"."fax"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."fax" to "dartwing_tenant";

alter table "dartwing"."fax_transmission" enable row level security;
alter table "dartwing"."fax_transmission" force row level security;
drop policy if exists millrace_tenant on "dartwing"."fax_transmission";
create policy millrace_tenant on "dartwing"."fax_transmission"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."fax_transmission" to "dartwing_tenant";

alter table "dartwing"."webhook_endpoint" enable row level security;
alter table "dartwing"."webhook_endpoint" force row level security;
drop policy if exists millrace_tenant on "dartwing"."webhook_endpoint";
create policy millrace_tenant on "dartwing"."webhook_endpoint"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."webhook_endpoint" to "dartwing_tenant";

alter table "dartwing"."webhook_delivery" enable row level security;
alter table "dartwing"."webhook_delivery" force row level security;
drop policy if exists millrace_tenant on "dartwing"."webhook_delivery";
create policy millrace_tenant on "dartwing"."webhook_delivery"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."webhook_delivery" to "dartwing_tenant";

alter table "dartwing"."email" enable row level security;
alter table "dartwing"."email" force row level security;
drop policy if exists millrace_tenant on "dartwing"."email";
create policy millrace_tenant on "dartwing"."email"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."email" to "dartwing_tenant";

alter table "dartwing"."email_suppression" enable row level security;
alter table "dartwing"."email_suppression" force row level security;
drop policy if exists millrace_tenant on "dartwing"."email_suppression";
create policy millrace_tenant on "dartwing"."email_suppression"
  using ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text))
  with check ("organization" = (select nullif(current_setting('millrace.tenant', true), '')::text));
grant select, insert, update, delete on "dartwing"."email_suppression" to "dartwing_tenant";
