-- Take the admission back from limited jobs that have not been claimed: a lower limit must hold for them too. Those that
-- still have a place are admitted again at once.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 key text or null for all of the queue
-- Returns: queue, tenant, key of what was taken back, each once.
-- Locks:   those job rows; waits for a claim that is just taking one, and leaves that one alone.
-- Index:   job_admitted_by_limit_idx
with retracted as (
  update millrace.job
  set status = 'blocked', updated_at = coalesce($1, now())
  where queue = $2
    and limit_key is not null
    and ($3::text is null or limit_key = $3)
    and status <> 'blocked'
    and status = 'pending'
  returning queue, tenant, limit_key
)
select distinct queue, tenant, limit_key as key
from retracted;
