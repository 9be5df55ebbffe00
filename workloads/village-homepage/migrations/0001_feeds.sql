-- The feeds that the village follows, and their items.
create table village.rss_sources (
  id uuid primary key default gen_random_uuid(),
  name text not null check (name <> ''),
  url text not null,
  category text not null default 'General',
  refresh_interval_minutes integer not null default 60,
  is_active boolean not null default true,
  last_fetched_at timestamptz,            -- the last success; "not modified" is one
  last_attempt_at timestamptz,
  error_count integer not null default 0,
  last_error_type text,
  last_error_message text,
  disabled_at timestamptz,
  etag text,
  last_modified text,
  moved_to text,                          -- where a permanent redirect led
  dedupe_mode text not null default 'guid',
  entry_limit integer not null default 1000,
  user_agent text,                        -- null: that of the configuration
  is_sandbox boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint rss_sources_url_key unique (url),
  constraint rss_sources_interval_check check (refresh_interval_minutes between 15 and 1440),
  constraint rss_sources_error_count_check check (error_count >= 0),
  constraint rss_sources_dedupe_mode_check check (dedupe_mode in ('guid', 'content_hash')),
  constraint rss_sources_entry_limit_check check (entry_limit between 1 and 10000)
);

create index rss_sources_for_due_idx on village.rss_sources (last_fetched_at nulls first) where is_active;

create table village.feed_items (
  id uuid primary key default gen_random_uuid(),
  source_id uuid not null references village.rss_sources on delete cascade,
  item_guid text not null,
  title text not null,
  url text not null,
  description text,
  content text,
  author text,
  published_at timestamptz not null,
  fetched_at timestamptz not null default now(),
  content_hash char(32) not null,
  ai_tagged boolean not null default false,
  ai_tags jsonb,
  tagged_at timestamptz,
  tag_failures integer not null default 0 check (tag_failures >= 0),
  tag_after timestamptz,                  -- not tried again before
  tagging_batch uuid,                     -- the batch that has claimed it
  tagging_until timestamptz,
  rank_score double precision not null default 0,
  -- Unique for its source: feeds that count 1, 2, 3 must not suppress each other's items.
  constraint feed_items_guid_key unique (source_id, item_guid),
  constraint feed_items_tags_check check (
    ai_tags is null or ai_tags ?& array['topics', 'sentiment', 'categories', 'confidence']
  )
);

create index feed_items_untagged_idx on village.feed_items (source_id, published_at desc) where not ai_tagged;
create index feed_items_by_hash_idx on village.feed_items (content_hash);
create index feed_items_by_rank_idx on village.feed_items (rank_score desc);
create index feed_items_newest_idx on village.feed_items (published_at desc);

-- Operators' recipes name the tables without a schema. A database that has such names of its own keeps them.
do $$
begin
  if to_regclass('public.rss_sources') is null then
    create view public.rss_sources as select * from village.rss_sources;
  end if;
  if to_regclass('public.feed_items') is null then
    create view public.feed_items as select * from village.feed_items;
  end if;
end
$$;
