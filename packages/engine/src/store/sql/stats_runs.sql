-- What became of runs lately, by queue, type and outcome, with the sums of their histograms.
-- Params:  $1 now timestamptz or null, $2 span_ms float8
-- Returns: queue, type, outcome, runs, durations jsonb, waits jsonb
-- Locks:   none
-- Index:   metric_minute_pkey
with recent as materialized (
  select queue, type, outcome, runs, durations, waits
  from millrace.metric_minute
  where minute > coalesce($1, now()) - $2::float8 * interval '1 millisecond'
),
duration as (
  select queue, type, outcome, jsonb_agg(count order by at) as counts
  from (
    select queue, type, outcome, at, sum(count)::int as count
    from recent cross join lateral unnest(durations) with ordinality as bucket (count, at)
    group by queue, type, outcome, at
  ) as sums
  group by queue, type, outcome
),
wait as (
  select queue, type, outcome, jsonb_agg(count order by at) as counts
  from (
    select queue, type, outcome, at, sum(count)::int as count
    from recent cross join lateral unnest(waits) with ordinality as bucket (count, at)
    group by queue, type, outcome, at
  ) as sums
  group by queue, type, outcome
)
select queue, type, outcome, run.runs, coalesce(duration.counts, '[]') as durations, coalesce(wait.counts, '[]') as waits
from (select queue, type, outcome, sum(runs)::int as runs from recent group by queue, type, outcome) as run
left join duration using (queue, type, outcome)
left join wait using (queue, type, outcome);
