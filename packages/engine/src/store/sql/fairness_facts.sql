-- How much a queue has done lately, and how many tenants are known.
-- Params:  $1 now timestamptz or null, $2 span_ms float8, $3 queue text
-- Returns: one row: at, runs, duration_ms: of all of them together, tenants
-- Locks:   none
-- Index:   metric_minute_pkey, tenant_pkey
select coalesce($1, now()) as at, coalesce(sum(runs), 0)::int as runs, coalesce(sum(duration_ms), 0)::float8 as duration_ms,
  (select count(*)::int from millrace.tenant where status <> 'deleted') as tenants
from millrace.metric_minute
where minute > coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  and queue = $3;
