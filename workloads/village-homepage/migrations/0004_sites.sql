-- Good sites with their votes and links, and clicks of visitors who have agreed to be counted.
create table village.good_sites (
  id uuid primary key default gen_random_uuid(),
  url text not null,
  title text not null check (title <> ''),
  category text not null default 'General',
  status text not null default 'listed',
  score double precision not null default 0,
  created_at timestamptz not null default now(),
  constraint good_sites_url_key unique (url),
  constraint good_sites_status_check check (status in ('pending', 'listed', 'unlisted'))
);

create index good_sites_by_score_idx on village.good_sites (score desc) where status = 'listed';

create table village.site_votes (
  site_id uuid not null references village.good_sites on delete cascade,
  voter_id uuid not null,
  value smallint not null check (value in (-1, 1)),
  voted_at timestamptz not null default now(),
  primary key (site_id, voter_id)
);

create table village.site_links (
  id uuid primary key default gen_random_uuid(),
  site_id uuid not null references village.good_sites on delete cascade,
  url text not null,
  state text not null default 'unknown',
  http_status integer,
  failures integer not null default 0 check (failures >= 0),
  checked_at timestamptz,
  next_check_at timestamptz not null default now(),
  moved_to text,
  constraint site_links_url_key unique (site_id, url),
  constraint site_links_state_check check (state in ('unknown', 'ok', 'moved', 'unsure', 'broken', 'dead'))
);

create index site_links_for_check_idx on village.site_links (next_check_at);

-- Who may be counted (P14). A visitor is a random number in a cookie.
create table village.visitor_consents (
  visitor_id uuid primary key,
  analytics boolean not null,
  policy_version text not null,
  decided_at timestamptz not null default now()
);

-- A click without consent cannot be stored.
create table village.link_clicks (
  id bigint generated always as identity primary key,
  target_kind text not null check (target_kind in ('item', 'site')),
  target_id uuid not null,
  visitor_id uuid not null references village.visitor_consents on delete cascade,
  clicked_at timestamptz not null default now(),
  consented boolean not null,
  constraint link_clicks_consent_check check (consented)
);

create index link_clicks_for_rollup_idx on village.link_clicks (clicked_at);
create index link_clicks_by_visitor_idx on village.link_clicks (visitor_id);

create table village.click_rollups (
  hour timestamptz not null,
  target_kind text not null,
  target_id uuid not null,
  clicks integer not null check (clicks > 0),
  visitors integer not null check (visitors > 0),
  primary key (hour, target_kind, target_id),
  constraint click_rollups_hour_check check (date_trunc('hour', hour, 'UTC') = hour)
);

create index click_rollups_by_target_idx on village.click_rollups (target_kind, target_id, hour);
