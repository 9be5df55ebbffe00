-- What a governed claim of a queue has to know, after it has the locks: what runs, what was started lately, whose turn it is.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 limits text[] by name, $4 tenants text[] whose rates are wanted; '' for those
--          that all tenants share
-- Returns: one row: version of the rules, now_s, turn, since: when the oldest run began or, while there is none, now, if that is news,
--          running as [tenant, type, count], held as [limit, tenant, count], rates as [limit, tenant, starts, held_until_s],
--          parked_until_s: the first time at which a parked job may run, null: none is parked; parked_version and parked_checked_s: by
--          which rules and when those were looked at
-- Locks:   none
-- Index:   job_governed_idx, job_limited_idx, limit_rate_pkey, queue_turn_pkey, job_parked_until_idx
-- The clock is read after the locks were taken; now() is the time of the transaction's begin.
-- Runs are counted from running_since on, which governed_take.sql writes: whoever counts and whoever starts runs has the queue's lock,
-- so none can be missed. It is news only now and then, because a row that is written often is slow to read where nothing is vacuumed.
with turn as materialized (
  select tenant, running_since, parked_version, parked_checked_at from millrace.queue_turn where queue = $2
),
here as materialized (
  select tenant, type, count(*) as jobs, min(started_at) as since
  from millrace.job
  where queue = $2 and status = 'processing' and limits is not null
    and started_at >= coalesce((select running_since from turn), '-infinity')
  group by tenant, type
),
oldest as (
  -- A little earlier, as a driver may know milliseconds only.
  select coalesce(min(since) - interval '1 millisecond', $1, clock_timestamp()) as since from here
)
select
  (select version from millrace.rules_version)::float8 as version,
  extract(epoch from coalesce($1, clock_timestamp()))::float8 as now_s,
  (select tenant from turn) as turn,
  (select since from oldest
   where since > coalesce((select running_since from turn), '-infinity') + interval '2 seconds') as since,
  (select jsonb_agg(jsonb_build_array(tenant, type, jobs)) from here) as running,
  (select date_part('epoch', parked_until) from millrace.job
   where queue = $2 and status = 'blocked' and parked_until is not null
   order by parked_until limit 1) as parked_until_s,
  (select parked_version from turn)::float8 as parked_version,
  (select date_part('epoch', parked_checked_at) from turn) as parked_checked_s,
  case when $3::text[] <> '{}' then
    (select jsonb_agg(jsonb_build_array(name, tenant, jobs)) from (
       select name, run.tenant, count(*) as jobs
       from millrace.queue_turn
       cross join lateral (
         select tenant, limits from millrace.job
         where job.queue = queue_turn.queue and status = 'processing' and limits <> '{}'
           and started_at >= coalesce(running_since, '-infinity')
         offset 0
       ) as run
       cross join unnest(run.limits) as name
       where name = any($3)
       group by name, run.tenant
     ) as taken)
  end as held,
  case when $3::text[] <> '{}' then
    (select jsonb_agg(jsonb_build_array(name, tenant, starts, extract(epoch from held_until)::float8))
     from unnest($3) as limited (name)
     cross join unnest($4::text[]) as asked (tenant)
     cross join lateral (
       select starts, held_until from millrace.limit_rate
       where limit_rate.name = limited.name and limit_rate.tenant = asked.tenant
       limit 1
     ) as rate)
  end as rates;
