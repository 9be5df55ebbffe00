-- What happened to a job, as far as it was kept.
-- Params:  $1 job_id bigint
-- Returns: at, event, from_status, to_status, attempt, run_id, worker_id, due_at, by, detail; in order.
-- Locks:   none
-- Index:   job_event_by_job_idx, of all partitions in turn
select
  at, event, coalesce(from_status, lag(to_status) over (order by id)) as from_status, to_status, attempt, run_id, worker_id,
  due_at, actor as by, detail
from millrace.job_event
where job_id = $1
order by id;
