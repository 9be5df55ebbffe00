-- Give waiting jobs another priority.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 priority int
-- Returns: id, queue, tenant, before: the priority it had, of the jobs that were waiting.
-- Locks:   those job rows
-- Index:   job_pkey
with waiting as materialized (
  select id, priority
  from millrace.job
  where id = any($2::bigint[])
    and status in ('pending', 'blocked')
  order by id
  for no key update
)
update millrace.job
set priority = $3, updated_at = coalesce($1, now())
from waiting
where job.id = waiting.id
  and status in ('pending', 'blocked')
returning job.id, job.queue, job.tenant, waiting.priority as before;
