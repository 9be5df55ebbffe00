-- How long first attempts took from when their jobs were due to their end, in the last minutes: the sums of the histograms, by queue.
-- Params:  $1 now timestamptz or null, $2 span_ms float8
-- Returns: queue, latencies jsonb
-- Locks:   none
-- Index:   metric_minute_pkey
select queue, jsonb_agg(count order by at) as latencies
from (
  select queue, at, sum(count)::int as count
  from millrace.metric_minute
  cross join lateral unnest(latencies) with ordinality as bucket (count, at)
  where minute > coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  group by queue, at
) as sums
group by queue;
