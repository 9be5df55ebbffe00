-- The last jobs of schedules, by the ticks that enqueued them.
-- Params:  $1 names text[], $2 jobs of each int
-- Returns: schedule, job_id, newest first.
-- Locks:   none
-- Index:   schedule_tick_by_job_idx
select named.schedule, tick.job_id
from unnest($1::text[]) as named (schedule)
  cross join lateral (
    select id, job_id
    from millrace.schedule_tick
    where schedule_tick.schedule = named.schedule
      and outcome = 'enqueued'
      and job_id is not null
    order by id desc
    limit $2
  ) as tick
order by tick.id desc;
