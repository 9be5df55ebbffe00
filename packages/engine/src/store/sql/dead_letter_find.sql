-- Look for dead letters to be erased, page by page: the page is bounded by what is looked at, not by what is found.
-- Params:  $1 after id bigint, $2 limit int, $3 tenant, $4 type, $5 where jsonb (contained in the payload): each null for any,
--          $6 ids of jobs bigint[] or null for all, $7 created_by or null for any
-- Returns: id, job_id, status, is_match (null: no); what is erased already does not match.
-- Locks:   none
-- Index:   dead_letter_jobs_pkey, dead_letter_by_job_idx
select id, job_id, status,
  ($3::text is null or tenant = $3) and ($4::text is null or type = $4) and ($5::jsonb is null or original_job->'payload' @> $5)
    and ($7::text is null or original_job->>'created_by' = $7)
    and original_job->'payload' is distinct from '{"erased": true}' as is_match
from millrace.dead_letter_jobs
where id > $1
  and ($6::bigint[] is null or job_id = any($6))
order by id
limit $2;
