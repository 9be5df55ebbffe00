-- What became of runs, by minute, queue, type and outcome; every worker process adds what it has counted.
--
-- A histogram is an array of counts: element i counts what took more than 2^((i - 2) / 2) and at most 2^((i - 1) / 2) milliseconds, the
-- first everything up to 1 ms. It is as long as its last count.
create table millrace.metric_minute (
  minute      timestamptz not null,
  queue       text not null,
  type        text not null,
  outcome     text not null check (outcome in ('completed', 'cancelled', 'failed', 'dead', 'snoozed', 'crashed')),
  runs        bigint not null,
  duration_ms double precision not null,
  durations   integer[] not null,
  -- From the time at which the job was due to its claim.
  wait_ms     double precision not null,
  waits       integer[] not null,
  primary key (minute, queue, type, outcome)
) with (fillfactor = 80);

-- How long jobs of the busiest tenants waited. A process counts a bounded number of tenants.
create table millrace.metric_tenant_minute (
  minute  timestamptz not null,
  queue   text not null,
  tenant  text not null,
  runs    bigint not null,
  wait_ms double precision not null,
  waits   integer[] not null,
  primary key (minute, queue, tenant)
) with (fillfactor = 80);
