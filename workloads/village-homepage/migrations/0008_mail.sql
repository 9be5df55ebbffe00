-- Which notices a listing has had, and which mails have come for the village.
create table village.listing_notices (
  listing_id uuid not null references village.listings on delete cascade,
  kind text not null check (kind in ('reminder_7d', 'reminder_1d', 'expired')),
  sent_at timestamptz not null default now(),
  primary key (listing_id, kind)
);

-- Each mail by its number on the server. A server that numbers its mails anew says so by another uidvalidity.
create table village.inbound_mail (
  mailbox text not null,
  uidvalidity bigint not null,
  uid bigint not null,
  header_id text not null,
  outcome text not null,
  reason text,                            -- why it was not relayed
  received_at timestamptz not null default now(),
  moved_at timestamptz,                   -- out of the mailbox; null: the next run moves it
  primary key (mailbox, uidvalidity, uid),
  constraint inbound_mail_outcome_check check (outcome in ('relayed', 'duplicate', 'quarantined', 'bounced'))
);

create index inbound_mail_for_moving_idx on village.inbound_mail (mailbox, uidvalidity) where moved_at is null;
