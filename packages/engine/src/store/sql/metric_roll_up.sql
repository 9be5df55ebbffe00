-- Sum up the minutes of hours that are over, and count the dead letters of the same hours.
-- Params:  $1 now timestamptz or null, $2 settle_ms float8: how long after its end an hour is over, $3 hours int at most
-- Returns: one row: is_more, whether hours are left for the next call
-- Locks:   the rows of those hours, in the order of their keys, so that two processes cannot wait for each other.
-- Index:   metric_hour_pkey, metric_minute_pkey, dead_letter_by_death_idx, dead_letter_by_decision_idx
-- Running it again changes nothing. The newest stored hour is summed up once more, for a flush that came late.
with closed as materialized (
  select date_trunc('hour', coalesce($1, now()) - $2::float8 * interval '1 millisecond', 'UTC') as until,
    (select max(hour) from millrace.metric_hour) as stored
),
next as materialized (
  select date_trunc('hour', min(minute), 'UTC') as hour
  from millrace.metric_minute
  where minute >= coalesce((select stored from closed) + interval '1 hour', '-infinity')
),
span as materialized (
  select coalesce(stored, hour) as since, least(until, coalesce(hour + $3::int * interval '1 hour', stored + interval '1 hour')) as until,
    coalesce(hour + $3::int * interval '1 hour' < until, false) as is_more
  from closed cross join next
),
minutes as materialized (
  select date_trunc('hour', minute, 'UTC') as hour, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies
  from millrace.metric_minute
  where minute >= (select since from span)
    and minute < (select until from span)
),
buckets as (
  select hour, queue, type, outcome, array_agg(duration order by at) filter (where duration is not null) as durations,
    array_agg(wait order by at) filter (where wait is not null) as waits, array_agg(latency order by at) filter (where latency is not null) as latencies
  from (
    select hour, queue, type, outcome, at, sum(duration)::int as duration, sum(wait)::int as wait, sum(latency)::int as latency
    from minutes cross join lateral unnest(durations, waits, latencies) with ordinality as bucket (duration, wait, latency, at)
    group by hour, queue, type, outcome, at
  ) as bucket
  group by hour, queue, type, outcome
),
runs as (
  insert into millrace.metric_hour as stored (hour, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies)
  select hour, queue, type, outcome, sum.runs, sum.duration_ms, coalesce(durations, '{}'), sum.wait_ms, coalesce(waits, '{}'),
    sum.latency_ms, coalesce(latencies, '{}')
  from (
    select hour, queue, type, outcome, sum(runs) as runs, sum(duration_ms) as duration_ms, sum(wait_ms) as wait_ms, sum(latency_ms) as latency_ms
    from minutes group by hour, queue, type, outcome
  ) as sum
  left join buckets using (hour, queue, type, outcome)
  order by hour, queue, type, outcome
  on conflict (hour, queue, type, outcome) do update
  set runs = excluded.runs, duration_ms = excluded.duration_ms, durations = excluded.durations, wait_ms = excluded.wait_ms,
      waits = excluded.waits, latency_ms = excluded.latency_ms, latencies = excluded.latencies
  where stored.runs < excluded.runs
),
letters as (
  insert into millrace.metric_letter_hour as stored (hour, queue, type, born, decided)
  select date_trunc('hour', at, 'UTC'), queue, type, sum(born)::int, sum(decided)::int
  from (
    select died_at as at, queue, type, 1 as born, 0 as decided
    from millrace.dead_letter_jobs
    where died_at >= (select since from span) and died_at < (select until from span)
    union all
    select acknowledged_at, queue, type, 0, 1
    from millrace.dead_letter_jobs
    where status <> 'pending' and acknowledged_at >= (select since from span) and acknowledged_at < (select until from span)
  ) as event
  group by 1, 2, 3
  order by 1, 2, 3
  on conflict (hour, queue, type) do update
  set born = greatest(stored.born, excluded.born), decided = greatest(stored.decided, excluded.decided)
  where stored.born < excluded.born or stored.decided < excluded.decided
)
select is_more from span;
