-- An id above those of the jobs that were created until a time: ids grow with time, as far as transactions are short.
-- Params:  $1 at timestamptz
-- Returns: id
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx, about twenty times
with recursive probe (low, high) as (
  select 0::bigint, 1 + greatest((select max(id) from millrace.job), (select max(id) from millrace.job_archive), 0)
  union all
  select
    case when found.created_at <= $1 then found.id else low end,
    case when found.created_at <= $1 then high else middle end
  from probe
  cross join lateral (select low + (high - low) / 2 as middle) as half
  left join lateral (
    select id, created_at
    from (
      (select id, created_at from millrace.job where id >= middle and id < high order by id limit 1)
      union all
      (select id, created_at from millrace.job_archive where id >= middle and id < high order by id limit 1)
    ) as next
    order by id
    limit 1
  ) as found on true
  where high - low > 10
)
select min(high) as id
from probe;
