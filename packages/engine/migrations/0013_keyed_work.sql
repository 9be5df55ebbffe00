-- Keyed work: jobs that run one after another by a key of their payload, or so many of a key at once.
--
-- * A keyed job is inserted as 'blocked'. An admitter makes it 'pending' when its key has room; the claim knows nothing
--   of keys. Jobs without a key are in none of these indexes.
-- * What the admitter of any process must know about a job stands on its row: how many of its key may run at once, and
--   whether its death stops the key.
-- * No tenant and the tenant '' are the same here: a loose index scan cannot step over nulls.

alter table millrace.job
  add column order_stops boolean,
  add column limit_concurrency integer;

-- order_admit.sql, order_keys.sql: the next of a key, and which keys have one.
create index job_blocked_by_order_idx on millrace.job (queue, coalesce(tenant, ''), order_key, id)
  where status = 'blocked' and order_key is not null;

-- order_admit.sql, order_keys.sql: is one of this key admitted?
create index job_admitted_by_order_idx on millrace.job (queue, coalesce(tenant, ''), order_key)
  where status <> 'blocked' and order_key is not null;

-- limit_admit.sql, limit_keys.sql: the next of a key, by priority and due time, and which keys have one.
create index job_blocked_by_limit_idx on millrace.job (queue, coalesce(tenant, ''), limit_key, priority, run_at, id)
  where status = 'blocked' and limit_key is not null;

-- limit_admit.sql, limit_keys.sql: how many of this key are admitted?
create index job_admitted_by_limit_idx on millrace.job (queue, coalesce(tenant, ''), limit_key)
  where status <> 'blocked' and limit_key is not null;

-- Keys whose head has died under the policy 'stop': nothing of them is admitted until a person decides.
create table millrace.order_stop (
  queue      text not null,
  tenant     text not null,
  order_key  text not null,
  job_id     bigint not null,
  stopped_at timestamptz not null,
  primary key (queue, tenant, order_key)
);

-- dead_letter_close.sql: the key that this dead job has stopped.
create index order_stop_by_job_idx on millrace.order_stop (job_id);

-- How many of a key run at once, instead of what the contract says: for one key of a queue, or (null) for all of them.
create table millrace.key_limit_setting (
  queue       text not null,
  limit_key   text,
  concurrency integer not null check (concurrency >= 0),
  set_by      text not null,
  set_at      timestamptz not null,
  unique nulls not distinct (queue, limit_key)
);
