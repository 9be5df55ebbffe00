-- Counts of runs by hour, and of dead letters by hour. Minutes are kept for 30 days, hours for 13 months.
--
-- `latencies` counts, of first attempts only, the time from when the job was due to the end of the attempt.
alter table millrace.metric_minute
  add column latency_ms double precision not null default 0,
  add column latencies integer[] not null default '{}';

-- metric_roll_up.sql sums up the minutes of every hour that is over.
create table millrace.metric_hour (
  hour        timestamptz not null,
  queue       text not null,
  type        text not null,
  outcome     text not null,
  runs        bigint not null,
  duration_ms double precision not null,
  durations   integer[] not null,
  wait_ms     double precision not null,
  waits       integer[] not null,
  latency_ms  double precision not null,
  latencies   integer[] not null,
  primary key (hour, queue, type, outcome)
);

-- Dead letters that were born and decided about: redriven, resolved or ignored. Letters are pruned, these counts stay.
create table millrace.metric_letter_hour (
  hour    timestamptz not null,
  queue   text not null,
  type    text not null,
  born    integer not null,
  decided integer not null,
  primary key (hour, queue, type)
);
