-- How long jobs of some tenants waited lately: the sums of their histograms.
-- Params:  $1 now timestamptz or null, $2 span_ms float8, $3 queues text[], $4 tenants text[], by position
-- Returns: queue, tenant, waits jsonb
-- Locks:   none
-- Index:   metric_tenant_minute_pkey
select queue, tenant, jsonb_agg(count order by at) as waits
from (
  select queue, tenant, at, sum(count)::int as count
  from millrace.metric_tenant_minute
  cross join lateral unnest(waits) with ordinality as bucket (count, at)
  where minute > coalesce($1, now()) - $2::float8 * interval '1 millisecond'
    and (queue, tenant) in (select * from unnest($3::text[], $4::text[]))
  group by queue, tenant, at
) as sums
group by queue, tenant;
