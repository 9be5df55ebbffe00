-- Let as many jobs of limited keys be claimed as there are free places: those that are due, by priority, due time and id.
-- In the transaction of key_lock.sql, after it.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 tenants text[], $4 keys text[]: none twice
-- Returns: id, queue, tenant, type, priority, run_at_s of the admitted jobs.
-- Locks:   those job rows. Waits for whoever is cancelling one.
-- Index:   job_blocked_by_limit_idx, job_admitted_by_limit_idx, key_limit_setting_queue_limit_key_key, job_pkey
-- A place is taken from the admission to the end of the run. The number of places is the setting for the key, else for
-- its queue, else what the contract said of the first one that waits. The walk over priorities keeps work that is due
-- in the future out of the scan.
update millrace.job
set status = 'pending', updated_at = coalesce($1, now())
where status = 'blocked'
  and id = any(array(
    select next.id
    from unnest($2::text[], $3::text[], $4::text[]) as wanted (queue, tenant, key)
    cross join lateral (
      select coalesce(
        (select concurrency from millrace.key_limit_setting where queue = wanted.queue and limit_key = wanted.key),
        (select concurrency from millrace.key_limit_setting where queue = wanted.queue and limit_key is null),
        (select limit_concurrency from millrace.job
         where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and limit_key = wanted.key
           and status = 'blocked'
         order by priority, run_at, id limit 1),
        0
      ) as places
    ) as allowed
    cross join lateral (
      select allowed.places - count(*) as places
      from (
        select from millrace.job
        where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and limit_key = wanted.key
          and status <> 'blocked'
        limit allowed.places
      ) as taken
    ) as free
    cross join lateral (
      with recursive level (priority) as (
        (select priority from millrace.job
         where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and limit_key = wanted.key
           and status = 'blocked' and free.places > 0
         order by priority limit 1)
        union all
        select further.priority
        from level
        cross join lateral (
          select priority from millrace.job
          where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and limit_key = wanted.key
            and status = 'blocked' and priority > level.priority
          order by priority limit 1
        ) as further
      )
      select due.id
      from level
      cross join lateral (
        select id from millrace.job
        where queue = wanted.queue and coalesce(tenant, '') = wanted.tenant and limit_key = wanted.key
          and status = 'blocked' and priority = level.priority and run_at <= coalesce($1, now())
        order by run_at, id
        limit free.places
      ) as due
      limit free.places
    ) as next
  ))
returning id, queue, tenant, type, priority, date_part('epoch', run_at) as run_at_s;
