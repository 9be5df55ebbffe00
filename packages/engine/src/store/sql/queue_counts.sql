-- How many live jobs each queue holds.
-- Params:  $1 now timestamptz or null
-- Returns: queue, due, scheduled, processing, blocked
-- Locks:   none
-- Index:   job_for_claim_idx and job_for_share_idx without the table, job_suspect_idx, job_running_idx, job_blocked_by_order_idx,
--          job_blocked_by_limit_idx, job_parked_idx, job_deferred_idx. As many entries as there are live jobs: not for a hot path.
with counted as (
  select queue, count(*) filter (where run_at <= coalesce($1, now())) as due, count(*) as pending, 0 as processing, 0 as blocked
  from millrace.job where status = 'pending' and crashes = 0 and tenant is null group by queue
  union all
  select queue, count(*) filter (where run_at <= coalesce($1, now())), count(*), 0, 0
  from millrace.job where status = 'pending' and crashes = 0 and tenant is not null group by queue
  union all
  select queue, count(*) filter (where run_at <= coalesce($1, now())), count(*), 0, 0
  from millrace.job where status = 'pending' and crashes > 0 group by queue
  union all
  select queue, 0, 0, count(*), 0
  from millrace.job where status = 'processing' group by queue
  union all
  select queue, 0, 0, 0, count(*)
  from millrace.job where status = 'blocked' and order_key is not null group by queue
  union all
  select queue, 0, 0, 0, count(*)
  from millrace.job where status = 'blocked' and limit_key is not null and order_key is null group by queue
  union all
  select queue, 0, 0, 0, count(*)
  from millrace.job
  where status = 'blocked' and parked_until is not null and order_key is null and limit_key is null group by queue
  union all
  select queue, 0, 0, 0, count(*)
  from millrace.job where status = 'blocked' and deferred_keys is not null group by queue
)
select queue, sum(due)::int as due, sum(pending - due)::int as scheduled, sum(processing)::int as processing,
  sum(blocked)::int as blocked
from counted
group by queue
order by queue;
