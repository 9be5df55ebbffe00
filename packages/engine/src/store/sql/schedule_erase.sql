-- Forget schedules that were created at run time and carry what is erased: they would enqueue it again.
-- Params:  $1 tenant or null, $2 job_type or null, $3 jsonb that the payload must contain or null, $4 only_count boolean
-- Returns: their names.
-- Locks:   their rows
-- Index:   schedule_tick_by_schedule_idx; there are few schedules
with chosen as materialized (
  select name
  from millrace.schedule
  where source = 'runtime'
    and ($1::text is null or options ->> 'tenant' = $1)
    and ($2::text is null or job_type = $2)
    and ($3::jsonb is null or payload @> $3)
),
ticks as (
  delete from millrace.schedule_tick where not $4 and schedule in (select name from chosen)
),
gone as (
  delete from millrace.schedule where not $4 and name in (select name from chosen)
)
select name from chosen order by name;
