-- Note a tick that somebody asked for. One that failed at that fire time, enqueueing nothing, is done again.
-- Params:  $1 now timestamptz or null, $2 schedule, $3 fire_at, $4 origin, $5 author, $6 previous_fire_at or null
-- Returns: tick_id, lateness_ms; no row: that fire time was ticked before, or the schedule is gone.
-- Locks:   the tick's row, until the transaction ends, or has been idle for two seconds
-- Index:   schedule_pkey, schedule_tick_once_idx
insert into millrace.schedule_tick (schedule, fire_at, origin, outcome, lateness_ms, previous_fire_at, author, at)
select name, $3::timestamptz, $4::text, 'running', extract(epoch from now - $3::timestamptz)::float8 * 1000,
  $6::timestamptz, $5::text, now
from millrace.schedule, (select coalesce($1::timestamptz, clock_timestamp()) as now, set_config('idle_in_transaction_session_timeout', '2s', true)) as clock
where name = $2
on conflict (schedule, fire_at) where origin <> 'manual' and outcome <> 'missed' do update
set origin = excluded.origin, outcome = excluded.outcome, reason = null, job_id = null, jobs = 0, refused = 0,
  lateness_ms = excluded.lateness_ms, previous_fire_at = excluded.previous_fire_at, author = excluded.author,
  at = excluded.at, tenant_cursor = null, busy_by = null, busy_until = null
where schedule_tick.outcome = 'failed'
returning id as tick_id, lateness_ms;
