-- The village's own accounts on social networks, their tokens and what they posted.
create table village.social_accounts (
  id uuid primary key default gen_random_uuid(),
  provider text not null check (provider in ('instagram', 'mastodon')),
  handle text not null check (handle <> ''),
  base_url text not null,                 -- of its server, without a slash at the end
  state text not null default 'active',
  problem text,                           -- why it must be authorised again
  token_expires_at timestamptz,           -- null: never
  refreshed_at timestamptz,
  is_sandbox boolean not null default false,
  created_at timestamptz not null default now(),
  constraint social_accounts_handle_key unique (provider, base_url, handle),
  constraint social_accounts_state_check check (state in ('active', 'reauthorise'))
);

-- Tokens are sealed by the platform's keys, each bound to its account and kind (P5, P13): a row that is moved does not open.
create table village.social_tokens (
  account_id uuid not null references village.social_accounts on delete cascade,
  kind text not null check (kind in ('access', 'refresh')),
  sealed text not null check (sealed like '{"$encrypted":%'),
  updated_at timestamptz not null default now(),
  primary key (account_id, kind)
);

create table village.social_posts (
  account_id uuid not null references village.social_accounts on delete cascade,
  post_id text not null,
  text text not null,
  url text not null,
  posted_at timestamptz not null,
  primary key (account_id, post_id)
);

create index social_posts_by_time_idx on village.social_posts (posted_at desc);
