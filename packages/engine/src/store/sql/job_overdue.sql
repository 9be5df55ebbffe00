-- Running jobs beyond the deadline at which a run is called stuck. To be settled in the same transaction.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: id, run_id, type
-- Locks:   those job rows, in id order, skipping what somebody is settling right now.
-- Index:   job_running_idx
select id, run_id, type
from millrace.job
where status = 'processing'
  and deadline_at < coalesce($1, now())
order by id
limit $2
for no key update skip locked;
