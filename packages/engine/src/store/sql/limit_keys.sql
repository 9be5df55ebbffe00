-- Which limited keys have jobs that wait for admission? A loose index scan: one step per key, whatever waits in it.
-- Params:  $1 now timestamptz or null, $2 queue, $3 tenant, $4 key: behind which key to begin; $5 limit int
-- Returns: queue, tenant, key in order, and whether one may be admitted as far as can be seen without a lock.
-- Locks:   none: limit_admit.sql decides.
-- Index:   job_blocked_by_limit_idx, job_admitted_by_limit_idx, key_limit_setting_queue_limit_key_key
with recursive walk (queue, tenant, key, concurrency, step) as (
  (select queue, coalesce(tenant, ''), limit_key, limit_concurrency, 1 from millrace.job
   where status = 'blocked' and limit_key is not null
     and (queue, coalesce(tenant, ''), limit_key) > ($2::text, $3::text, $4::text)
   order by queue, coalesce(tenant, ''), limit_key, priority, run_at, id limit 1)
  union all
  select next.*, walk.step + 1
  from walk
  cross join lateral (
    select queue, coalesce(tenant, ''), limit_key, limit_concurrency from millrace.job
    where status = 'blocked' and limit_key is not null
      and (queue, coalesce(tenant, ''), limit_key) > (walk.queue, walk.tenant, walk.key)
    order by queue, coalesce(tenant, ''), limit_key, priority, run_at, id limit 1
  ) as next
  where walk.step < $5
)
select queue, tenant, key,
  case when allowed.places > (
    select count(*)
    from (
      select from millrace.job
      where queue = walk.queue and coalesce(tenant, '') = walk.tenant and limit_key = walk.key and status <> 'blocked'
      limit allowed.places
    ) as taken
  ) then (
    with recursive level (priority, run_at) as (
      (select priority, run_at from millrace.job
       where queue = walk.queue and coalesce(tenant, '') = walk.tenant and limit_key = walk.key and status = 'blocked'
       order by priority, run_at limit 1)
      union all
      select further.*
      from level
      cross join lateral (
        select priority, run_at from millrace.job
        where queue = walk.queue and coalesce(tenant, '') = walk.tenant and limit_key = walk.key
          and status = 'blocked' and priority > level.priority
        order by priority, run_at limit 1
      ) as further
    )
    select min(run_at) <= coalesce($1, now()) from level
  ) else false end as is_free
from walk
cross join lateral (
  select coalesce(
    (select concurrency from millrace.key_limit_setting as setting where setting.queue = walk.queue and limit_key = walk.key),
    (select concurrency from millrace.key_limit_setting as setting where setting.queue = walk.queue and limit_key is null),
    walk.concurrency
  ) as places
) as allowed;
