-- Events of which other processes are told that listen: one row for each event and subject, the last time it was raised.
create table millrace.notice (
  event     text not null,
  -- What it is about, so that a storm of the same is one row: a tenant and a queue, for instance.
  subject   text not null,
  -- New at every raise: by it a listener knows what it has heard.
  id        bigint not null generated always as identity,
  facts     jsonb not null,
  -- The client that raised it, and has told its own listeners.
  origin    uuid not null,
  raised_at timestamptz not null,
  primary key (event, subject)
);

create index notice_for_list_idx on millrace.notice (raised_at);
