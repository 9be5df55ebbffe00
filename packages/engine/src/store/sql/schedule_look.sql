-- The schedules that this process can tick, the most urgent first, due or not; and the ticks it can go on with.
-- Params:  $1 now timestamptz or null, $2 names of its code text[], $3 job types it runs text[], $4 who it is uuid, $5 limit int,
--          $6 names text[] and $7 ids bigint[] of those that it has under way, or that failed here a moment ago
-- Returns: one row: now, schedules and running as jsonb arrays of names and ids with wake_at (ms from now).
-- Locks:   none
-- Index:   schedule_for_look_idx, schedule_tick_running_idx
with clock as (
  select coalesce($1::timestamptz, clock_timestamp()) as now
),
soonest as (
  select name, wake_at
  from millrace.schedule
  where wake_at is not null
    and case source when 'code' then name = any($2::text[]) else job_type = any($3::text[]) end
    and name <> all($6::text[])
  order by wake_at
  limit $5
),
running as (
  select tick.id, case when tick.busy_by = $4::uuid then null else tick.busy_until end as free_at
  from millrace.schedule_tick as tick
    join millrace.schedule on schedule.name = tick.schedule
  where tick.outcome = 'running'
    and case source when 'code' then name = any($2::text[]) else job_type = any($3::text[]) end
    and tick.id <> all($7::bigint[])
  order by tick.id
  limit $5
)
select clock.now,
  (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'inMs', extract(epoch from wake_at - clock.now)::float8 * 1000) order by wake_at), '[]')
   from soonest) as schedules,
  (select coalesce(jsonb_agg(jsonb_build_object('id', id::text, 'inMs', coalesce(extract(epoch from free_at - clock.now)::float8 * 1000, 0)) order by id), '[]')
   from running) as running
from clock;
