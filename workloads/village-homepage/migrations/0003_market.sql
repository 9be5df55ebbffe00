-- Quotes, the weather, and what free tiers of their providers have left.
create table village.stock_quotes (
  symbol text primary key,
  price numeric(18, 4) not null,
  change numeric(18, 4) not null,
  change_percent numeric(10, 4) not null,
  previous_close numeric(18, 4) not null,
  trading_day date not null,
  source text not null,
  fetched_at timestamptz not null
);

-- Requests of a day. An update that checks the limit keeps it, however many processes ask.
create table village.provider_usage (
  provider text not null,
  day date not null,
  used integer not null default 0 check (used >= 0),
  primary key (provider, day)
);

create table village.weather_locations (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  latitude numeric(7, 4) not null check (latitude between -90 and 90),
  longitude numeric(7, 4) not null check (longitude between -180 and 180),
  time_zone text not null,
  provider text not null check (provider in ('nws', 'open-meteo')),
  nws_forecast_url text,                  -- what /points answered, asked once
  constraint weather_locations_name_key unique (name)
);

create table village.weather_forecasts (
  location_id uuid primary key references village.weather_locations on delete cascade,
  current jsonb not null,
  days jsonb not null,
  fetched_at timestamptz not null
);

create table village.weather_alerts (
  location_id uuid not null references village.weather_locations on delete cascade,
  alert_id text not null,
  event text not null,
  severity text not null,
  headline text not null,
  expires_at timestamptz,
  ended_at timestamptz,
  primary key (location_id, alert_id)
);

create index weather_alerts_active_idx on village.weather_alerts (location_id) where ended_at is null;

create table village.settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);
