-- Schedules by name, with their newest tick and whether a living worker takes care of them: its code
-- declares them, or it runs the job type of one that was created at run time.
-- Params:  $1 now timestamptz or null, $2 names text[] or null for all
-- Returns: the schedules; `now`; `is_declared`; `has_workers`: some worker lives at all; `hides_code`: it was
--          created at run time, and the code of a living worker declares one of that name; `last_tick`.
-- Locks:   none
-- Index:   schedule_pkey, schedule_tick_by_schedule_idx
-- Leases live on the database's own clock, whatever a test does with time.
with living as (
  select schedules, types
  from millrace.worker
  where ended_at is null
    and expires_at > now()
)
select name, job_type, source, cadence, timing, edited_timing, options, payload, next_at, last_fire_at, failures,
  missed::float8 as missed, paused_at, paused_until, paused_by, pause_reason, revision, declared_at, declared_by,
  created_at, updated_at, updated_by, coalesce($1, clock_timestamp()) as now,
  exists (
    select from living
    where case source when 'code' then schedule.name = any(living.schedules) else schedule.job_type = any(living.types) end
  ) as is_declared,
  exists (select from living) as has_workers,
  source = 'runtime' and exists (select from living where schedule.name = any(living.schedules)) as hides_code,
  (select jsonb_build_object('fireAt', fire_at, 'outcome', outcome, 'reason', reason, 'latenessMs', lateness_ms)
   from millrace.schedule_tick as tick where tick.schedule = schedule.name order by tick.id desc limit 1) as last_tick
from millrace.schedule
where $2::text[] is null or name = any($2)
order by name;
