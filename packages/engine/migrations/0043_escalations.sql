-- The outbox of escalations: what people have to be told. A row is written in the transaction that makes it true, and
-- delivered later by a job. It is one fault seen once; rows with the same key are the same fault.
create table millrace.escalation (
  id              bigint generated always as identity primary key,
  -- dead_job, budget_stop, budget_threshold, alert or test.
  kind            text not null,
  key             text not null check (length(key) between 1 and 255),
  severity        text not null check (severity in ('info', 'notice', 'warning', 'error', 'critical')),
  -- Null of a dead job: its letter says what went wrong, and erasing the letter erases it.
  summary         text,
  queue           text,
  type            text,
  tenant          text,
  job_id          bigint,
  fingerprint     text,
  dedup_key       text,
  -- Plain facts, such as the reason of a death; never a payload or an error text.
  details         jsonb not null default '{}',
  -- As the queue declared it at that time; null: the deliverer decides.
  policy          jsonb,
  -- True: it is for the owner of the queue.
  to_owner        boolean not null default false,
  created_at      timestamptz not null,
  -- By the deliverer. Null: it has not been looked at yet.
  channel         text,
  respond_by      timestamptz,
  -- Of a digest: when it is sent. Null: at once.
  due_at          timestamptz,
  -- The message in which it was sent, or is being sent.
  message_key     text,
  tries           integer not null default 0,
  -- So often its message was sent again because nobody knew whether it had arrived.
  repeats         integer not null default 0,
  last_try_at     timestamptz,
  last_error      text,
  sent_at         timestamptz,
  -- Its channel refused it: it is not tried again until somebody says so.
  undeliverable_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  resolved_at     timestamptz,
  -- What its channel was told last after the first message: acknowledged or resolved.
  told            text check (told in ('acknowledged', 'resolved'))
);

-- escalation_unrouted.sql
create index escalation_unrouted_idx on millrace.escalation (id) where channel is null;

-- escalation_due.sql, escalation_take.sql
create index escalation_unsent_idx on millrace.escalation (channel, id)
  where sent_at is null and undeliverable_at is null and channel is not null;

-- escalation_write.sql: an alert that fires is open once.
create unique index escalation_open_alert_idx on millrace.escalation (key, coalesce(policy, '""'::jsonb))
  where kind = 'alert' and resolved_at is null;

-- escalation_resolve.sql, escalation_settled.sql, escalation_overdue.sql
create index escalation_open_idx on millrace.escalation (key, id) where resolved_at is null;

-- escalation_due.sql, escalation_news.sql
create index escalation_untold_idx on millrace.escalation (channel, key)
  where sent_at is not null and told is distinct from 'resolved' and (resolved_at is not null or acknowledged_at is not null);

-- escalation_take.sql: when its channel was last sent a message.
create index escalation_sent_idx on millrace.escalation (channel, sent_at) where sent_at is not null;

-- escalation_prune.sql
create index escalation_for_prune_idx on millrace.escalation (created_at);
