-- The sitemap: files of at most 50,000 addresses, as gzip. One generation is served while the next one is written.
create table village.sitemap_generations (
  id bigint generated always as identity primary key,
  state text not null default 'writing',
  written_at timestamptz not null,
  constraint sitemap_generations_state_check check (state in ('writing', 'current', 'previous'))
);

create unique index sitemap_generations_current_idx on village.sitemap_generations (state) where state = 'current';

create table village.sitemap_files (
  generation bigint not null references village.sitemap_generations on delete cascade,
  name text not null,
  urls integer not null check (urls between 1 and 50000),
  bytes bytea not null,
  primary key (generation, name)
);
