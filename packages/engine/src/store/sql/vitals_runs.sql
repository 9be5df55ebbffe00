-- How runs ended in the last hour and the last minutes, by queue and type.
-- Params:  $1 now timestamptz or null, $2 short_ms float8: how long the last minutes are
-- Returns: queue, type, runs_hour, failures_hour, runs_short, failures_short
-- Locks:   none
-- Index:   metric_minute_pkey
-- A run that was cancelled or put off neither succeeded nor failed, so it is not counted.
select queue, type,
  sum(runs)::int as runs_hour,
  coalesce(sum(runs) filter (where outcome <> 'completed'), 0)::int as failures_hour,
  coalesce(sum(runs) filter (where is_short), 0)::int as runs_short,
  coalesce(sum(runs) filter (where is_short and outcome <> 'completed'), 0)::int as failures_short
from (
  select queue, type, outcome, runs, minute > coalesce($1, now()) - $2::float8 * interval '1 millisecond' as is_short
  from millrace.metric_minute
  where minute > coalesce($1, now()) - interval '1 hour'
    and outcome in ('completed', 'failed', 'dead', 'crashed')
) as recent
group by queue, type;
