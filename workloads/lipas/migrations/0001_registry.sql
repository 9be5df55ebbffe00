-- The register: sports places, places of interest, and the reminders of their owners.

-- Raised by saves only, one sequence for all places: it orders what computations have seen.
create sequence lipas.revision;

create table lipas.site_type (
  type_code integer primary key,
  name text not null,
  geometry_type text not null check (geometry_type in ('Point', 'LineString', 'Polygon'))
);

create table lipas.sports_site (
  lipas_id integer primary key check (lipas_id > 0),
  revision bigint not null default nextval('lipas.revision'),
  event_date timestamptz not null default now(),
  status text not null default 'active'
    check (status in ('planned', 'active', 'out-of-service-temporarily', 'out-of-service-permanently', 'incorrect-data')),
  type_code integer not null references lipas.site_type,
  name text not null check (name <> ''),
  owner_email text,
  geometries jsonb not null,              -- a GeoJSON FeatureCollection in WGS 84
  bounds box not null,                    -- of the geometries, in metres of EPSG:3067
  elevation jsonb,                        -- the profile; null: not computed yet
  elevation_of bigint                     -- the revision that it was computed from
);
create index sports_site_near_idx on lipas.sports_site using gist (bounds);

create table lipas.loi (
  id integer primary key check (id > 0),
  event_date timestamptz not null default now(),
  loi_type text not null,
  geometries jsonb not null
);

create table lipas.reminder (
  id uuid primary key default gen_random_uuid(),
  lipas_id integer references lipas.sports_site,
  email text not null,
  event_date timestamptz not null,        -- when it is due
  body jsonb not null default '{}',
  status text not null default 'pending' check (status in ('pending', 'queued', 'sent', 'done')),
  queued_at timestamptz,
  sent_at timestamptz
);
create index reminder_due_idx on lipas.reminder (event_date, id) where status = 'pending';
-- A place has one open reminder: saving the place moves it.
create unique index reminder_of_site_idx on lipas.reminder (lipas_id) where status = 'pending';

-- What the partner was told, by the job that told it.
create table lipas.webhook_delivery (
  job_id bigint primary key,
  operation_type text,
  objects integer not null,
  status integer not null,
  sent_at timestamptz not null default now()
);
create index webhook_delivery_latest_idx on lipas.webhook_delivery (sent_at desc);
