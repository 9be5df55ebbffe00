-- The workflow of dead jobs was resumed: new jobs do their work, and their letters need nobody's attention any more.
-- Params:  $1 now timestamptz or null, $2 job_ids bigint[] of the dead, $3 job_ids bigint[] of the new ones, $4 by text
-- Returns: nothing
-- Locks:   those letters
-- Index:   dead_letter_by_job_idx
update millrace.dead_letter_jobs as letter
set status = 'retried', acknowledged = true, acknowledged_by = $4, acknowledged_at = coalesce($1, now()), redriven_job_id = new_id
from unnest($2::bigint[], $3::bigint[]) as replaced (job_id, new_id)
where letter.job_id = any($2::bigint[])
  and letter.job_id = replaced.job_id
  and letter.status = 'pending';
