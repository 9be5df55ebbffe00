-- What runs under limits, and what was started lately under their rates.
-- Params:  $1 now timestamptz or null, $2 names text[]
-- Returns: one row: now_s, held as [limit, tenant, count], rates as [limit, tenant, starts, held_until_s]
-- Locks:   none
-- Index:   job_limited_idx, limit_rate_pkey
select
  extract(epoch from coalesce($1, now()))::float8 as now_s,
  (select jsonb_agg(jsonb_build_array(name, tenant, jobs)) from (
     select name, tenant, count(*) as jobs
     from millrace.job cross join unnest(limits) as name
     where status = 'processing' and limits <> '{}' and name = any($2::text[])
     group by name, tenant
   ) as taken) as held,
  (select jsonb_agg(jsonb_build_array(name, tenant, starts, extract(epoch from held_until)::float8))
   from millrace.limit_rate where name = any($2)) as rates;
