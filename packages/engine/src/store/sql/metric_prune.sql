-- Forget minutes that are long past.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 tenant_age_ms float8, $4 limit int, of each table
-- Returns: one row: how many rows were forgotten, of the table with most of them
-- Locks:   those rows, skipping locked ones
-- Index:   metric_minute_pkey, metric_tenant_minute_pkey
with runs as (
  delete from millrace.metric_minute
  where ctid = any(array(
    select ctid from millrace.metric_minute
    where minute < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
    order by minute limit $4 for update skip locked
  ))
  returning 1
),
tenants as (
  delete from millrace.metric_tenant_minute
  where ctid = any(array(
    select ctid from millrace.metric_tenant_minute
    where minute < coalesce($1, now()) - $3::float8 * interval '1 millisecond'
    order by minute limit $4 for update skip locked
  ))
  returning 1
)
select greatest((select count(*) from runs), (select count(*) from tenants))::int as forgotten;
