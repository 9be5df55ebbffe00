-- Forget minutes and hours that are long past.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 tenant_age_ms float8, $4 hour_months int, $5 limit int, of each table
-- Returns: one row: how many rows were forgotten, of the table with most of them
-- Locks:   those rows, skipping locked ones
-- Index:   metric_minute_pkey, metric_tenant_minute_pkey, metric_hour_pkey, metric_letter_hour_pkey
-- A minute is forgotten only when its hour is stored.
with runs as (
  delete from millrace.metric_minute
  where ctid = any(array(
    select ctid from millrace.metric_minute
    where minute < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
      and minute < (select max(hour) from millrace.metric_hour)
    order by minute limit $5 for update skip locked
  ))
  returning 1
),
tenants as (
  delete from millrace.metric_tenant_minute
  where ctid = any(array(
    select ctid from millrace.metric_tenant_minute
    where minute < coalesce($1, now()) - $3::float8 * interval '1 millisecond'
    order by minute limit $5 for update skip locked
  ))
  returning 1
),
hours as (
  delete from millrace.metric_hour
  where ctid = any(array(
    select ctid from millrace.metric_hour
    where hour < coalesce($1, now()) - make_interval(months => $4::int)
    order by hour limit $5 for update skip locked
  ))
  returning 1
),
letters as (
  delete from millrace.metric_letter_hour
  where ctid = any(array(
    select ctid from millrace.metric_letter_hour
    where hour < coalesce($1, now()) - make_interval(months => $4::int)
    order by hour limit $5 for update skip locked
  ))
  returning 1
)
select greatest(
  (select count(*) from runs), (select count(*) from tenants), (select count(*) from hours), (select count(*) from letters)
)::int as forgotten;
