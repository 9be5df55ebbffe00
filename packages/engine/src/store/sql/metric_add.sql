-- Add what a process has counted since its last flush to the current minute.
-- Params:  $1 now timestamptz or null; of runs: $2 queues text[], $3 types text[], $4 outcomes text[], $5 runs int[],
--          $6 duration_ms float8[], $7 durations text[], $8 wait_ms float8[], $9 waits text[], $10 latency_ms float8[], $11 latencies text[];
--          of tenants: $12 queues text[], $13 tenants text[], $14 runs int[], $15 wait_ms float8[], $16 waits text[].
--          Each histogram is the text of an int[].
-- Returns: minute, once for each row of runs.
-- Locks:   the rows of this minute, in the order of their keys, so that two processes cannot wait for each other.
-- Index:   metric_minute_pkey, metric_tenant_minute_pkey
-- The commit may be asynchronous: a crash of the server loses a few seconds of counts.
with not_durable as materialized (
  select set_config('synchronous_commit', 'off', true), date_trunc('minute', coalesce($1, now())) as minute
),
by_tenant as (
  insert into millrace.metric_tenant_minute as stored (minute, queue, tenant, runs, wait_ms, waits)
  select minute, queue, tenant, runs, wait_ms, waits::int[]
  from not_durable
  cross join unnest($12::text[], $13::text[], $14::int[], $15::float8[], $16::text[]) as given (queue, tenant, runs, wait_ms, waits)
  order by queue, tenant
  on conflict (minute, queue, tenant) do update
  set runs = stored.runs + excluded.runs, wait_ms = stored.wait_ms + excluded.wait_ms,
      waits = array(
        select coalesce(before, 0) + coalesce(more, 0)
        from unnest(stored.waits, excluded.waits) with ordinality as bucket (before, more, at) order by at
      )
)
insert into millrace.metric_minute as stored (minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies)
select minute, queue, type, outcome, runs, duration_ms, durations::int[], wait_ms, waits::int[], latency_ms, latencies::int[]
from not_durable
cross join unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::float8[], $7::text[], $8::float8[], $9::text[], $10::float8[], $11::text[])
  as given (queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latency_ms, latencies)
order by queue, type, outcome
on conflict (minute, queue, type, outcome) do update
set runs = stored.runs + excluded.runs, duration_ms = stored.duration_ms + excluded.duration_ms,
    wait_ms = stored.wait_ms + excluded.wait_ms, latency_ms = stored.latency_ms + excluded.latency_ms,
    durations = array(
      select coalesce(before, 0) + coalesce(more, 0)
      from unnest(stored.durations, excluded.durations) with ordinality as bucket (before, more, at) order by at
    ),
    waits = array(
      select coalesce(before, 0) + coalesce(more, 0)
      from unnest(stored.waits, excluded.waits) with ordinality as bucket (before, more, at) order by at
    ),
    latencies = array(
      select coalesce(before, 0) + coalesce(more, 0)
      from unnest(stored.latencies, excluded.latencies) with ordinality as bucket (before, more, at) order by at
    )
returning minute;
