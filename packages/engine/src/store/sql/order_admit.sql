-- Let the next job of ordered keys be claimed: the one with the lowest id, if none of the key waits for its claim, for
-- its retry or for its end. In the transaction of key_lock.sql, after it.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 tenants text[], $4 keys text[]: none twice
-- Returns: id, queue, tenant, type, priority, run_at_s of the admitted jobs.
-- Locks:   those job rows. Waits for whoever is cancelling one.
-- Index:   job_blocked_by_order_idx, job_admitted_by_order_idx, order_stop_pkey, dead_letter_by_job_idx, job_pkey
-- A deferred job takes no part: its key stands apart (tenant_admit.sql).
-- A key that a death has stopped stays so. Only the job that took the place of the dead one goes on, before all others and
-- even if it was deferred; when it has ended without dying (its death would have stopped the key anew), the stop is over.
with stopped as materialized (
  select wanted.*, (
      select job_id from millrace.order_stop as stop
      where stop.queue = wanted.queue and stop.tenant = wanted.tenant and stop.order_key = wanted.key
    ) as dead_id
  from unnest($2::text[], $3::text[], $4::text[]) as wanted (queue, tenant, key)
),
inherited as materialized (
  select stopped.*, (
      select redriven_job_id from millrace.dead_letter_jobs as letter where letter.job_id = dead_id
    ) as heir_id
  from stopped
),
judged as materialized (
  select inherited.*, (select id from millrace.job where id = heir_id) as live_heir_id
  from inherited
),
lifted as (
  delete from millrace.order_stop
  where job_id = any(array(select dead_id from judged where heir_id is not null and live_heir_id is null))
)
update millrace.job
set status = 'pending', updated_at = coalesce($1, now()),
    order_key = coalesce(order_key, deferred_keys[1]), limit_key = coalesce(limit_key, deferred_keys[2]), deferred_keys = null
where status = 'blocked'
  and id = any(array(
    select coalesce(live_heir_id, (
      select id from millrace.job
      where queue = judged.queue and coalesce(tenant, '') = judged.tenant and order_key = judged.key
        and status = 'blocked'
      order by id limit 1
    ))
    from judged
    where (dead_id is null or heir_id is not null)
      and (
        select id from millrace.job
        where queue = judged.queue and coalesce(tenant, '') = judged.tenant and order_key = judged.key
          and status <> 'blocked'
        limit 1
      ) is null
  ))
returning id, queue, tenant, type, priority, date_part('epoch', run_at) as run_at_s;
