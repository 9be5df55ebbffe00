-- Note on letters which job has taken their place, in the transaction that inserts it.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 job_ids bigint[], $4 by text
-- Returns: the ids.
-- Locks:   none that dead_letter_lock.sql has not taken.
-- Index:   dead_letter_jobs_pkey
update millrace.dead_letter_jobs as letter
set status = 'retried', redriven_job_id = mine.job_id, acknowledged = true, acknowledged_by = $4,
    acknowledged_at = coalesce($1, now())
from unnest($2::bigint[], $3::bigint[]) as mine (id, job_id)
where letter.id = mine.id
returning letter.id;
