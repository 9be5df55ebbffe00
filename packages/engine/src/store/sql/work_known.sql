-- The names that the database knows: queues in which something waits, and types that live workers have handlers for.
-- Params:  none
-- Returns: one row: queues, types
-- Locks:   none
-- Index:   job_for_claim_idx, job_for_share_idx, job_suspect_idx
-- A loose walk: one probe per queue, whatever the backlog.
with recursive present (queue) as (
  select least(
    (select queue from millrace.job where status = 'pending' and crashes = 0 and tenant is null order by queue limit 1),
    (select queue from millrace.job where status = 'pending' and crashes = 0 and tenant is not null order by queue limit 1))
  union all
  select least(
    (select queue from millrace.job
     where status = 'pending' and crashes = 0 and tenant is null and queue > present.queue order by queue limit 1),
    (select queue from millrace.job
     where status = 'pending' and crashes = 0 and tenant is not null and queue > present.queue order by queue limit 1))
  from present
  where present.queue is not null
),
waiting as (
  select queue from present where queue is not null
  union
  select queue from millrace.job where status = 'pending' and crashes > 0
)
select
  (select coalesce(jsonb_agg(queue order by queue), '[]') from waiting) as queues,
  (select coalesce(jsonb_agg(distinct type), '[]') from millrace.worker cross join unnest(types) as type
   where ended_at is null and expires_at > now()) as types;
