-- How many runs ended, by hour, queue, type and outcome: whole hours from the rows by hour, the rest from the rows by minute.
-- Params:  $1 from timestamptz, $2 hours_from timestamptz, $3 hours_to timestamptz, $4 to timestamptz
-- Returns: hour, queue, type, outcome, runs; in order of time
-- Locks:   none
-- Index:   metric_hour_pkey, metric_minute_pkey
select date_trunc('hour', at, 'UTC') as hour, queue, type, outcome, sum(runs)::float8 as runs
from (
  select minute as at, queue, type, outcome, runs
  from millrace.metric_minute where minute >= $1::timestamptz and minute < $2::timestamptz
  union all
  select hour, queue, type, outcome, runs
  from millrace.metric_hour where hour >= $2::timestamptz and hour < $3::timestamptz
  union all
  select minute, queue, type, outcome, runs
  from millrace.metric_minute where minute >= $3::timestamptz and minute < $4::timestamptz
) as part
group by 1, 2, 3, 4
order by 1, 2, 3, 4;
