-- What stands before a waiting job: of its tenant, and of others. Counted up to ten thousand.
-- Params:  $1 now timestamptz or null, $2 id bigint
-- Returns: own: due jobs of the same tenant (or without one) that come first; others as [tenant, due jobs], at most 50 tenants;
--          running in the queue; ended in the queue's types within the last five minutes
-- Locks:   none
-- Index:   job_for_claim_idx, job_for_share_idx, job_governed_idx, job_archive_by_type_idx
with mine as materialized (
  select queue, tenant, type, priority, run_at, id from millrace.job where id = $2
),
types as materialized (
  select distinct type from millrace.job where queue = (select queue from mine) and status = 'processing'
  union
  select type from mine
)
select
  case when (select tenant from mine) is null then
    (select count(*)::int from (
       select from millrace.job, mine
       where job.queue = mine.queue and status = 'pending' and crashes = 0 and job.tenant is null
         and job.run_at <= coalesce($1, now())
         and (job.priority, job.run_at, job.id) < (mine.priority, mine.run_at, mine.id)
       limit 10000
     ) as first)
  else
    (select count(*)::int from (
       select from millrace.job, mine
       where job.queue = mine.queue and job.tenant = mine.tenant and status = 'pending' and crashes = 0
         and job.tenant is not null and job.run_at <= coalesce($1, now())
         and (job.priority, job.run_at, job.id) < (mine.priority, mine.run_at, mine.id)
       limit 10000
     ) as first)
  end as own,
  (select coalesce(jsonb_agg(jsonb_build_array(tenant, jobs) order by jobs desc, tenant), '[]') from (
     select job.tenant, count(*)::int as jobs
     from (
       select job.tenant from millrace.job, mine
       where job.queue = mine.queue and status = 'pending' and crashes = 0
         and job.tenant is not null and job.tenant is distinct from mine.tenant and job.run_at <= coalesce($1, now())
       limit 10000
     ) as job
     group by job.tenant
     order by jobs desc
     limit 50
   ) as tenants) as others,
  (select count(*)::int from millrace.job, mine where job.queue = mine.queue and status = 'processing') as running,
  (select count(*)::int from millrace.job_archive
   where type in (select type from types) and queue = (select queue from mine)
     and finished_at > coalesce($1, now()) - interval '5 minutes') as ended;
