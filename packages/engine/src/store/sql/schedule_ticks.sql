-- The newest ticks of a schedule.
-- Params:  $1 schedule, $2 limit int
-- Returns: the ticks, newest first.
-- Locks:   none
-- Index:   schedule_tick_by_schedule_idx
select id, fire_at, origin, outcome, reason, job_id, jobs, refused, missed, missed_to, lateness_ms, author as by, at
from millrace.schedule_tick
where schedule = $1
order by id desc
limit $2;
