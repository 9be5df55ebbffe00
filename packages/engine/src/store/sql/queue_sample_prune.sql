-- Forget minutes and hours of the queues' history that are long past.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 hour_months int, $4 limit int, of each table
-- Returns: one row: how many rows were forgotten, of the table with most of them
-- Locks:   those rows, skipping locked ones
-- Index:   queue_sample_pkey, queue_sample_hour_pkey
-- A minute is forgotten only when its hour is stored.
with minutes as (
  delete from millrace.queue_sample
  where minute = any(array(
    select minute from millrace.queue_sample
    where minute < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
      and minute < (select max(hour) from millrace.queue_sample_hour)
    order by minute limit $4 for update skip locked
  ))
  returning 1
),
hours as (
  delete from millrace.queue_sample_hour
  where hour = any(array(
    select hour from millrace.queue_sample_hour
    where hour < coalesce($1, now()) - make_interval(months => $3::int)
    order by hour limit $4 for update skip locked
  ))
  returning 1
)
select greatest((select count(*) from minutes), (select count(*) from hours))::int as forgotten;
