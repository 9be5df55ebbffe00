-- How many jobs a tenant has in a queue, waiting, blocked, deferred and running; counted no further than asked.
-- Params:  $1 queue text, $2 tenant text, $3 at_most int
-- Returns: one row: jobs
-- Locks:   none
-- Index:   those of parts/tenant_live.sql, job_deferred_idx
select live.jobs
from (select $1::text as queue, $2::text as tenant) as wanted
cross join (select $3::int as most) as counted
cross join lateral (
  select count(*)::int as jobs
  from (
-- part: tenant_live
    union all
    (select from millrace.job
     where queue = wanted.queue and tenant = wanted.tenant and status = 'blocked' and deferred_keys is not null
     order by id limit counted.most)
  ) as each
) as live;
