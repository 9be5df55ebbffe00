-- Day partitions that should exist and do not: from yesterday to $3 days ahead, by UTC days of the database's clock.
-- Params:  $1 now timestamptz or null, $2 parents text[], $3 days ahead int
-- Returns: parent, name, starts_at, ends_at (literals for the range)
-- Locks:   none
-- Index:   catalogues
select
  parent,
  parent || '_' || to_char(day, 'YYYYMMDD') as name,
  to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00' as starts_at,
  to_char(day + interval '1 day', 'YYYY-MM-DD') || ' 00:00:00+00' as ends_at
from unnest($2::text[]) as parent
cross join generate_series(-1, $3::int) as ahead
cross join lateral (
  select date_trunc('day', coalesce($1, now()) at time zone 'UTC') + ahead * interval '1 day' as day
) as days
where to_regclass('millrace.' || parent || '_' || to_char(day, 'YYYYMMDD')) is null
order by parent, day;
