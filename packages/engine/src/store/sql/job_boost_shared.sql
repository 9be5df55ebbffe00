-- Let jobs of tenants come up that have been due for long, while others of the same tenant stand before them.
-- Params:  $1 now timestamptz or null, $2 key bigint of the lock, $3 queues text[], $4 after_ms float8[], $5 until_ms float8[] or
--          infinity, $6 priorities int[], as in job_boost.sql, $7 most int: by queue, tenant and priority,
--          $8 behind text[]: the tenant behind which to begin, of each of $3, $9 tenants int: how many to look at
-- Returns: queue, jobs: how many came up, behind: the last tenant looked at, or null after the last of all
-- Locks:   as job_boost.sql
-- Index:   job_for_share_idx
-- Everything else is as in job_boost.sql. Priorities count among jobs of one tenant; tenants share the slots otherwise.
with recursive walk (queue, tenant, nth) as (
  select start.queue, start.behind, 0
  from (select where pg_try_advisory_xact_lock($2::bigint)) as alone
  cross join (select distinct queue, behind from unnest($3::text[], $8::text[]) as given (queue, behind)) as start
  union all
  select walk.queue, next.tenant, walk.nth + 1
  from walk
  cross join lateral (
    select tenant from millrace.job
    where queue = walk.queue and status = 'pending' and crashes = 0 and tenant is not null and tenant > walk.tenant
    order by tenant limit 1
  ) as next
  where walk.nth < $9
),
late as materialized (
  select head.id, step.priority
  from walk
  join unnest($3::text[], $4::float8[], $5::float8[], $6::int[]) as step (queue, after_ms, until_ms, priority)
    on step.queue = walk.queue and walk.nth > 0
  cross join lateral (
    select
      coalesce($1, now()) - step.after_ms * interval '1 millisecond' as due_before,
      case when step.until_ms = 'infinity' then '-infinity'
        else coalesce($1, now()) - step.until_ms * interval '1 millisecond' end as due_after
    offset 0
  ) as time
  cross join lateral (
    select $7 - count(*) as jobs
    from (
      select id from millrace.job
      where queue = walk.queue and status = 'pending' and crashes = 0 and tenant = walk.tenant
        and priority = step.priority and run_at <= time.due_before
      order by run_at, id
      limit $7
    ) as there
  ) as room
  cross join lateral (
    with recursive level (priority, is_behind) as (
      select -1, false
      union all
      select next.priority, level.is_behind or (
        select id from millrace.job
        where queue = walk.queue and status = 'pending' and crashes = 0 and tenant = walk.tenant
          and priority = level.priority and run_at <= coalesce($1, now())
        order by run_at limit 1
      ) is not null
      from level
      cross join lateral (
        select priority from millrace.job
        where queue = walk.queue and status = 'pending' and crashes = 0 and tenant = walk.tenant
          and priority > level.priority
        order by priority limit 1
      ) as next
    )
    select found.id
    from level
    cross join lateral (
      select id from millrace.job
      where queue = walk.queue and status = 'pending' and crashes = 0 and tenant = walk.tenant
        and priority = level.priority and run_at <= time.due_before and run_at > time.due_after
      order by run_at, id
      limit room.jobs
      for no key update skip locked
    ) as found
    where level.is_behind and level.priority > step.priority
    limit room.jobs
  ) as head
),
risen as (
  update millrace.job
  set priority = (select late.priority from late where late.id = job.id), updated_at = coalesce($1, now())
  where id = any(array(select id from late))
    and status = 'pending'
  returning queue
)
select walk.queue,
  (select count(*)::int from risen where risen.queue = walk.queue) as jobs,
  case when max(walk.nth) = $9 then max(walk.tenant) end as behind
from walk
group by walk.queue;
