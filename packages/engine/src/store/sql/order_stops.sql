-- The ordered keys that a death has stopped, those that were stopped first at the head.
-- Params:  $1 queue text or null, $2 limit int
-- Returns: queue, tenant, key, job_id of the dead job, stopped_at, dead_letter_id, redriven_job_id: the job in its place,
--          waiting: how many wait, counted up to 1,000
-- Locks:   none
-- Index:   order_stop_pkey, dead_letter_by_job_idx, job_blocked_by_order_idx
select stop.queue, nullif(stop.tenant, '') as tenant, stop.order_key as key, stop.job_id, stop.stopped_at,
  letter.id as dead_letter_id, letter.redriven_job_id,
  (
    select count(*)::int
    from (
      select from millrace.job
      where queue = stop.queue and coalesce(tenant, '') = stop.tenant and order_key = stop.order_key
        and status = 'blocked'
      limit 1000
    ) as waiting
  ) as waiting
from millrace.order_stop as stop
left join millrace.dead_letter_jobs as letter on letter.job_id = stop.job_id
where $1::text is null or stop.queue = $1
order by stop.stopped_at, stop.job_id
limit $2;
