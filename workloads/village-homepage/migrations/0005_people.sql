-- Neighbours, what they sell, and what they write to each other without learning each other's addresses.
create table village.contacts (
  id uuid primary key default gen_random_uuid(),
  email text not null check (email = lower(email)),
  name text not null check (name <> ''),
  constraint contacts_email_key unique (email)
);

create table village.listings (
  id uuid primary key default gen_random_uuid(),
  title text not null check (title <> ''),
  body text not null default '',
  price_cents integer not null check (price_cents >= 0),
  seller_id uuid not null references village.contacts,
  status text not null default 'active',
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint listings_status_check check (status in ('active', 'expired', 'sold', 'removed'))
);

create index listings_for_expiry_idx on village.listings (expires_at) where status = 'active';

-- The token of a party stands for their address: mail to m-<buyer_token>@… reaches the buyer.
create table village.conversations (
  id uuid primary key default gen_random_uuid(),
  listing_id uuid not null references village.listings on delete cascade,
  buyer_id uuid not null references village.contacts,
  seller_id uuid not null references village.contacts,
  buyer_token text not null,
  seller_token text not null,
  created_at timestamptz not null default now(),
  constraint conversations_parties_key unique (listing_id, buyer_id),
  constraint conversations_buyer_token_key unique (buyer_token),
  constraint conversations_seller_token_key unique (seller_token)
);

create table village.messages (
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid references village.conversations on delete cascade,
  recipient_id uuid references village.contacts,  -- of a notice, which belongs to no conversation
  direction text not null,
  kind text not null,
  subject text not null,
  body text not null,
  attachments text[] not null default '{}',       -- their names: they are not passed on
  status text not null default 'waiting',
  header_id text,                                 -- of the mail that it came by; null: by a form
  problem text,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  -- A mail that is seen twice is one message.
  constraint messages_header_id_key unique (header_id),
  constraint messages_direction_check check (direction in ('to_seller', 'to_buyer', 'notice')),
  constraint messages_status_check check (status in ('waiting', 'sent', 'undeliverable')),
  constraint messages_recipient_check check ((direction = 'notice') = (recipient_id is not null)),
  constraint messages_conversation_check check ((direction = 'notice') = (conversation_id is null))
);

create index messages_of_conversation_idx on village.messages (conversation_id, created_at);
