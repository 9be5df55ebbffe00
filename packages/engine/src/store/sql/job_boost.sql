-- Let jobs without tenant come up that have been due for long, while others stand before them.
-- Params:  $1 now timestamptz or null, $2 key bigint of the lock, $3 queues text[], $4 after_ms float8[], $5 until_ms float8[] or
--          infinity, $6 priorities int[]: whoever has been due for so long, and not yet until then, gets this priority,
--          $7 most int: how many of those that came up may wait at once, by queue and priority
-- Returns: queue and jobs: how many came up
-- Locks:   an advisory one while it runs, tried: one process at a time does this; the rows that come up, skipping what others hold.
-- Index:   job_for_claim_idx
-- A loose walk over the priorities of each queue. In front of the first one with due jobs nobody stands, and in the others
-- only what has been due for long is read, oldest first, and no more than may come up: neither the backlog nor what is due later.
with late as materialized (
  select head.id, step.priority
  from (select where pg_try_advisory_xact_lock($2::bigint)) as alone
  cross join unnest($3::text[], $4::float8[], $5::float8[], $6::int[]) as step (queue, after_ms, until_ms, priority)
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
      where queue = step.queue and status = 'pending' and crashes = 0 and tenant is null
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
        where queue = step.queue and status = 'pending' and crashes = 0 and tenant is null
          and priority = level.priority and run_at <= coalesce($1, now())
        order by run_at limit 1
      ) is not null
      from level
      cross join lateral (
        select priority from millrace.job
        where queue = step.queue and status = 'pending' and crashes = 0 and tenant is null and priority > level.priority
        order by priority limit 1
      ) as next
    )
    select found.id
    from level
    cross join lateral (
      select id from millrace.job
      where queue = step.queue and status = 'pending' and crashes = 0 and tenant is null
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
select queue, count(*)::int as jobs
from risen
group by queue;
