-- A page of dead letters, newest first. Without the original job and the stack, which may be large.
-- Params:  $1 status, $2 acknowledged bool, $3 queue, $4 type, $5 tenant, $6 fingerprint, $7 reason, each null for any;
--          $8 before bigint or null: only older letters than this one, $9 limit int
-- Returns: the letters.
-- Locks:   none
-- Index:   dead_letter_by_status_idx, dead_letter_by_fingerprint_idx, or dead_letter_jobs_pkey from its end
select
  id, job_id, type, queue, tenant, correlation_id, reason, attempts, error_details->>'class' as error_class,
  error_message, fingerprint, status, acknowledged, acknowledged_by, acknowledged_at, notes, redrives, redriven_job_id,
  died_at, workflow_id
from millrace.dead_letter_jobs
where ($1::text is null or status = $1)
  and ($2::bool is null or acknowledged = $2)
  and ($3::text is null or queue = $3)
  and ($4::text is null or type = $4)
  and ($5::text is null or tenant = $5)
  and ($6::text is null or fingerprint = $6)
  and ($7::text is null or reason = $7)
  and ($8::bigint is null or id < $8)
order by id desc
limit $9;
