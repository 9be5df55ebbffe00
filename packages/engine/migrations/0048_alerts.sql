-- Alerts: conditions that hold, have held long enough to fire, or have cleared of late. One row for each rule and subject.
create table millrace.alert (
  name       text not null,
  -- What it is about: a queue, a type, a worker.
  subject    text not null,
  severity   text not null check (severity in ('info', 'notice', 'warning', 'critical')),
  -- What the rule means and what to do, for processes that do not have its code.
  summary    text not null,
  action     text not null,
  link       text,
  -- Why it holds, in one sentence, and what was measured.
  why        text not null,
  value      double precision not null,
  threshold  double precision not null,
  -- Queues that it concerns.
  queues     text[] not null,
  owner      jsonb,
  -- The condition has held since then.
  since      timestamptz not null,
  -- It has held for as long as the rule says. Null: not yet.
  fired_at   timestamptz,
  -- Listeners were told that it fires. Null: not yet, or it is silenced.
  told_at    timestamptz,
  cleared_at timestamptz,
  -- When it was last measured.
  seen_at    timestamptz not null,
  primary key (name, subject)
);

-- A silenced alert is shown, and nobody is told of it.
create table millrace.alert_silence (
  id         bigint generated always as identity primary key,
  name       text not null,
  -- Null: every subject of the rule.
  subject    text,
  reason     text not null,
  author     text not null,
  created_at timestamptz not null,
  until      timestamptz not null
);

-- alert_silence_set.sql
create unique index alert_silence_idx on millrace.alert_silence (name, subject) nulls not distinct;
