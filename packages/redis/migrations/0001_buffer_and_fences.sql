-- What the buffer, its mover and the locks have to know for certain: Redis may forget it.

-- One row for each entry that has become a job or was rejected: an entry is moved once, even if a mover reads it again.
create table millrace_redis.buffer_entry (
  entry_id text primary key,
  buffer text not null,
  tenant text,
  type text not null,
  job_id bigint,
  moved_at timestamptz not null default now()
);
create index buffer_entry_for_pruning_idx on millrace_redis.buffer_entry (moved_at);

-- Entries that no job could be made of. Kept for 30 days, for a person to decide.
create table millrace_redis.buffer_rejected (
  entry_id text primary key,
  buffer text not null,
  tenant text,
  type text not null,
  entry text not null,
  error_code text not null,
  error_message text not null,
  rejected_at timestamptz not null default now()
);
create index buffer_rejected_for_list_idx on millrace_redis.buffer_rejected (buffer, rejected_at desc);

-- Entries that Redis took and lost before they were moved.
create table millrace_redis.buffer_lost (
  entry_id text primary key,
  buffer text not null,
  tenant text,
  type text not null,
  accepted_at timestamptz not null,
  noticed_at timestamptz not null default now()
);
create index buffer_lost_for_list_idx on millrace_redis.buffer_lost (buffer, noticed_at desc);

-- How many entries each process was promised and has not seen moved. The row of a dead process says how many nobody watches.
create table millrace_redis.buffer_account (
  buffer text not null,
  process uuid not null,
  host text not null,
  pid int not null,
  open int not null,
  updated_at timestamptz not null default now(),
  primary key (buffer, process)
);

-- The newest fence of each lock. A counter in Redis would begin anew after a flush.
create table millrace_redis.lock_fence (
  name text primary key,
  fence bigint not null
);
