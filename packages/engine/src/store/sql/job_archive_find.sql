-- Look for archived jobs to be erased, page by page: the page is bounded by what is looked at, not by what is found.
-- Params:  $1 after id bigint, $2 limit int, $3 tenant, $4 type, $5 where jsonb (contained in the payload): each null for any,
--          $6 ids of jobs bigint[] or null for all, $7 created_by or null for any
-- Returns: id, id as job_id, status, is_match (null: no); what is erased already does not match.
-- Locks:   none
-- Index:   job_archive_by_id_idx, of all partitions in turn
select id, id as job_id, status,
  ($3::text is null or tenant = $3) and ($4::text is null or type = $4) and ($5::jsonb is null or payload @> $5)
    and ($7::text is null or created_by = $7)
    and payload is distinct from '{"erased": true}' as is_match
from millrace.job_archive
where id > $1
  and ($6::bigint[] is null or id = any($6))
order by id
limit $2;
