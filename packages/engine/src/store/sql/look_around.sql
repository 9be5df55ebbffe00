-- What waits in these queues that is not to be claimed plainly: types beyond the worker's, jobs of tenants, new rules.
-- Params:  $1 queues text[], $2 queues text[] and $3 types text[] that need not be looked for
-- Returns: one row: types as [queue, type], apart from jobs of tenants and from $3; shared: queues with jobs of tenants, parked
--          ones too; rules_version
-- Locks:   none
-- Index:   job_for_claim_by_type_idx, job_for_share_idx, job_parked_until_idx
-- A loose walk: one probe per type, whatever the backlog. What has been claimed may have left millions of dead entries; so
-- between two types of $3 it looks only at what stands between them.
-- `once` is one row that the planner takes for a thousand. With bad statistics it expects one job, and would as soon
-- read the whole queue by job_for_claim_idx and sort it; to sort a thousand is never as cheap as to stop at the first.
select
  coalesce(jsonb_agg(jsonb_build_array(wanted.queue, present.type)) filter (where present.type is not null), '[]') as types,
  coalesce(jsonb_agg(distinct wanted.queue) filter (where (
    select tenant from millrace.job cross join generate_series(1, (select 1)) as once
    where job.queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is not null
    order by tenant limit 1
  ) is not null or (
    select true from millrace.job
    where job.queue = wanted.queue and status = 'blocked' and parked_until is not null
    order by parked_until limit 1
  )), '[]') as shared,
  (select version from millrace.rules_version)::float8 as rules_version
from unnest($1::text[]) as wanted (queue)
left join lateral (
  with recursive present (type, is_new) as (
    select '', false
    union all
    select next.type, next.is_new
    from present
    left join lateral (
      select min(type) as type from unnest($2::text[], $3::text[]) as given (queue, type)
      where queue = wanted.queue and type > present.type
    ) as known on true
    cross join lateral (
      (select type, true as is_new from millrace.job cross join generate_series(1, (select 1)) as once
       where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
         and type > present.type and type < known.type
       order by type limit 1)
      union all
      (select known.type, false where known.type is not null)
      union all
      (select type, true from millrace.job cross join generate_series(1, (select 1)) as once
       where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
         and type > present.type and known.type is null
       order by type limit 1)
      limit 1
    ) as next
  )
  select type from present where is_new
) as present on true;
