-- Day partitions whose time to be kept is over, attached or left behind by a removal that was cut off.
-- Params:  $1 now timestamptz or null, $2 parents text[], $3 days to keep int[]
-- Returns: parent, name, state: 'attached', 'detaching' (a removal was cut off), 'detached' (only the drop is missing)
-- Locks:   none
-- Index:   catalogues
select
  family.parent,
  part.relname::text as name,
  case
    when pg_inherits.inhrelid is null then 'detached'
    when pg_inherits.inhdetachpending then 'detaching'
    else 'attached'
  end as state
from unnest($2::text[], $3::int[]) as family (parent, keep_days)
join pg_class as parent on parent.oid = to_regclass('millrace.' || family.parent)
join pg_class as part
  on part.relnamespace = parent.relnamespace
  and part.relkind = 'r'
  and part.relname ~ ('^' || family.parent || '_\d{8}$')
left join pg_inherits on pg_inherits.inhrelid = part.oid
where to_date(right(part.relname, 8), 'YYYYMMDD')
  < (coalesce($1, now()) at time zone 'UTC')::date - family.keep_days
order by part.relname;
