-- By which key a blocked job waits, and what that key says.
-- Params:  $1 id bigint
-- Returns: queue, tenant, order_key, limit_key, run_at, concurrency: places of its limit key, stopped_by and stopped_at: the
--          death that has stopped its order key. No row: it is not blocked by a key.
-- Locks:   none
-- Index:   job_pkey, order_stop_pkey, key_limit_setting_queue_limit_key_key
select job.queue, job.tenant, job.order_key, job.limit_key, job.run_at,
  coalesce(of_key.concurrency, of_queue.concurrency, job.limit_concurrency) as concurrency,
  stop.job_id as stopped_by, stop.stopped_at
from millrace.job
left join millrace.key_limit_setting as of_key on of_key.queue = job.queue and of_key.limit_key = job.limit_key
left join millrace.key_limit_setting as of_queue
  on of_queue.queue = job.queue and of_queue.limit_key is null and job.limit_key is not null
left join millrace.order_stop as stop
  on stop.queue = job.queue and stop.tenant = coalesce(job.tenant, '') and stop.order_key = job.order_key
where job.id = $1
  and job.status = 'blocked'
  and coalesce(job.order_key, job.limit_key) is not null;
