-- Which ordered keys have jobs that wait for admission? A loose index scan: one step per key, whatever waits in it.
-- Params:  $1 queue, $2 tenant, $3 key: behind which key to begin; $4 limit int
-- Returns: queue, tenant, key in order, and whether the next one may be admitted as far as can be seen without a lock.
-- Locks:   none: order_admit.sql decides.
-- Index:   job_blocked_by_order_idx, job_admitted_by_order_idx, order_stop_pkey, dead_letter_by_job_idx
with recursive walk (queue, tenant, key, step) as (
  (select queue, coalesce(tenant, ''), order_key, 1 from millrace.job
   where status = 'blocked' and order_key is not null
     and (queue, coalesce(tenant, ''), order_key) > ($1::text, $2::text, $3::text)
   order by queue, coalesce(tenant, ''), order_key limit 1)
  union all
  select next.*, walk.step + 1
  from walk
  cross join lateral (
    select queue, coalesce(tenant, ''), order_key from millrace.job
    where status = 'blocked' and order_key is not null
      and (queue, coalesce(tenant, ''), order_key) > (walk.queue, walk.tenant, walk.key)
    order by queue, coalesce(tenant, ''), order_key limit 1
  ) as next
  where walk.step < $4
)
select queue, tenant, key,
  (
    select id from millrace.job
    where queue = walk.queue and coalesce(tenant, '') = walk.tenant and order_key = walk.key and status <> 'blocked'
    limit 1
  ) is null
  and (
    select job_id from millrace.order_stop as stop
    where stop.queue = walk.queue and stop.tenant = walk.tenant and stop.order_key = walk.key
      and (select redriven_job_id from millrace.dead_letter_jobs as letter where letter.job_id = stop.job_id) is null
  ) is null as is_free
from walk;
