-- Let as many deferred jobs of tenants through as each may have more: the oldest by id, whatever their priority, so that the head of an
-- order key is never behind a later job of it. In the transaction of key_lock.sql, after it.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 tenants text[]: no pair twice, $4 limit int, of all together
-- Returns: id, queue, tenant, type, priority, run_at_s, status, order_key, limit_key, tenant_jobs of those jobs. One with a key stays
--          blocked: its key is to be admitted next.
-- Locks:   those job rows. Waits for whoever is cancelling one.
-- Index:   those of parts/tenant_room.sql, job_pkey. The case keeps the planner off job_deferred_idx, where it would read every
--          deferred job.
-- The oldest of all tenants go first, so that each has its own in order.
update millrace.job
set status = case when coalesce(deferred_keys[1], deferred_keys[2]) is null then 'pending' else 'blocked' end,
    order_key = deferred_keys[1], limit_key = deferred_keys[2], deferred_keys = null, updated_at = coalesce($1, now())
where case status when 'blocked' then deferred_keys is not null else false end
  and id = any(array(
    select next.id
    from unnest($2::text[], $3::text[]) as wanted (queue, tenant)
-- part: tenant_room
    cross join lateral (
      select id from millrace.job
      where queue = wanted.queue and tenant = wanted.tenant and status = 'blocked' and deferred_keys is not null
      order by id
      limit least(room.free, $4)
    ) as next
    order by next.id
    limit $4
  ))
returning id, queue, tenant, type, priority, date_part('epoch', run_at) as run_at_s, status, order_key, limit_key, tenant_jobs;
