-- Look for workflows of a person to be erased, page by page: the page is bounded by what is looked at, not by what is found.
-- Params:  $1 after id bigint, $2 limit int, $3 tenant, $4 type: null, $5 where jsonb (contained in the input): each null for any,
--          $6 ids of jobs: null, $7 created_by or null for any
-- Returns: id, id as job_id, status, is_match (null: no); what is erased already does not match.
-- Locks:   none
-- Index:   workflow_pkey
-- Workflows of given types or ids are found by their jobs.
select id, id as job_id, status,
  ($3::text is null or tenant = $3) and $4::text is null and ($5::jsonb is null or input @> $5) and $6::bigint[] is null
    and ($7::text is null or created_by = $7)
    and input is distinct from '{"erased": true}' as is_match
from millrace.workflow
where id > $1
order by id
limit $2;
