-- The steps of a job, finished and begun.
-- Params:  $1 job_id bigint
-- Returns: name, started_at, finished_at; in the order in which they began.
-- Locks:   none
-- Index:   once_key_by_job_idx
select key as name, claimed_at as started_at, done_at as finished_at
from millrace.once_key
where job_id = $1
  and scope = '$step:' || $1::bigint
order by claimed_at, done_at, key;
