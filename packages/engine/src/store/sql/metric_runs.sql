-- What became of runs: whole hours from the rows by hour, what lies before and after them from the rows by minute.
-- Params:  $1 from timestamptz, $2 hours_from timestamptz, $3 hours_to timestamptz, $4 to timestamptz; $5 step text: minute, hour or day,
--          null for the whole span; $6 queue text or null, $7 type text or null, $8 by_type boolean: one row per queue and type, too
-- Returns: at ($1 without a step), queue and type (empty without by_type), outcome, runs, duration_ms, wait_ms, latency_ms and their
--          histograms durations, waits, latencies jsonb; in order of time
-- Locks:   none
-- Index:   metric_hour_pkey, metric_minute_pkey
with counted as materialized (
  select coalesce(date_trunc($5::text, at, 'UTC'), $1::timestamptz) as at, case when $8::boolean then queue else '' end as queue,
    case when $8::boolean then type else '' end as type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies
  from (
    select minute as at, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies
    from millrace.metric_minute where minute >= $1::timestamptz and minute < $2::timestamptz
    union all
    select hour, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies
    from millrace.metric_hour where hour >= $2::timestamptz and hour < $3::timestamptz
    union all
    select minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies
    from millrace.metric_minute where minute >= $3::timestamptz and minute < $4::timestamptz
  ) as part
  where ($6::text is null or queue = $6)
    and ($7::text is null or type = $7)
),
buckets as (
  select at, queue, type, outcome, jsonb_agg(duration order by place) as durations, jsonb_agg(wait order by place) as waits,
    jsonb_agg(latency order by place) as latencies
  from (
    select at, queue, type, outcome, place, coalesce(sum(duration), 0) as duration, coalesce(sum(wait), 0) as wait,
      coalesce(sum(latency), 0) as latency
    from counted
    cross join lateral unnest(durations, waits, latencies) with ordinality as bucket (duration, wait, latency, place)
    group by at, queue, type, outcome, place
  ) as bucket
  group by at, queue, type, outcome
),
sums as (
  select at, queue, type, outcome, sum(runs)::float8 as runs, sum(duration_ms) as duration_ms, sum(wait_ms) as wait_ms, sum(latency_ms) as latency_ms
  from counted
  group by at, queue, type, outcome
)
select sums.*, coalesce(durations, '[]') as durations, coalesce(waits, '[]') as waits, coalesce(latencies, '[]') as latencies
from sums
left join buckets using (at, queue, type, outcome)
order by at, queue, type, outcome;
