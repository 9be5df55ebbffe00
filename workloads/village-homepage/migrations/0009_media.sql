-- Pictures: of listings, by upload, and of good sites, by screenshot. In Postgres, so that any process can serve them and they commit
-- with what they belong to.
create table village.media (
  id uuid primary key default gen_random_uuid(),
  owner_kind text not null check (owner_kind in ('listing', 'site')),
  owner_id uuid not null,
  parent_id uuid references village.media on delete cascade,  -- null: an original
  role text not null,                     -- of an original: upload, desktop, phone; of a variant: thumb, card, full
  content_type text not null,
  width integer check (width > 0),        -- of an upload: unknown until it is processed
  height integer check (height > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bytea not null,
  cdn_url text,                           -- where the CDN has it too
  created_at timestamptz not null default now(),
  constraint media_variant_key unique (parent_id, role, content_type),
  constraint media_role_check check (role in ('upload', 'desktop', 'phone', 'thumb', 'card', 'full')),
  constraint media_original_check check (octet_length(bytes) <= 15728640)
);

create index media_by_owner_idx on village.media (owner_kind, owner_id, created_at desc);

-- Sites of the sandbox change their addresses with its port.
alter table village.good_sites add column is_sandbox boolean not null default false;
