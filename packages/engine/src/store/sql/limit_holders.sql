-- Which jobs hold the places of a limit, the oldest first.
-- Params:  $1 limit text, $2 tenant text or null for all, $3 queue text or null, $4 type text or null: for limits that are not
--          written on the runs, $5 limit int
-- Returns: id, started_at
-- Locks:   none
-- Index:   job_limited_idx, job_governed_idx
select id, started_at
from millrace.job
where status = 'processing'
  and limits is not null
  and case when $3::text is null then limits <> '{}' and $1 = any(limits)
      else queue = $3 and ($4::text is null or type = $4) end
  and ($2::text is null or tenant = $2)
order by started_at, id
limit $5;
