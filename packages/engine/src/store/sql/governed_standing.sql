-- What a governed claim of a queue has to know, after it has the locks: what runs, what was started lately, whose turn it is.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 limits text[] by name
-- Returns: one row: version of the rules, now_s, turn, running as [tenant, type, count], held as [limit, tenant, count],
--          rates as [limit, tenant, starts, held_until_s]
-- Locks:   none
-- Index:   job_governed_idx, job_limited_idx, limit_rate_pkey, queue_turn_pkey
-- The clock is read after the locks were taken; now() is the time of the transaction's begin.
select
  (select version from millrace.rules_version)::float8 as version,
  extract(epoch from coalesce($1, clock_timestamp()))::float8 as now_s,
  (select tenant from millrace.queue_turn where queue = $2) as turn,
  (select jsonb_agg(jsonb_build_array(tenant, type, jobs)) from (
     select tenant, type, count(*) as jobs from millrace.job
     where queue = $2 and status = 'processing' and limits is not null
     group by tenant, type
   ) as here) as running,
  case when $3::text[] <> '{}' then
    (select jsonb_agg(jsonb_build_array(name, tenant, jobs)) from (
       select name, tenant, count(*) as jobs
       from millrace.job cross join unnest(limits) as name
       where status = 'processing' and limits <> '{}' and name = any($3)
       group by name, tenant
     ) as taken)
  end as held,
  case when $3::text[] <> '{}' then
    (select jsonb_agg(jsonb_build_array(name, tenant, starts, extract(epoch from held_until)::float8))
     from millrace.limit_rate where name = any($3))
  end as rates;
