-- Move a schedule on to its next fire time, and note the tick and what was missed. Whoever comes second finds it moved.
-- Params:  $1 now timestamptz or null, $2 name, $3 revision, $4 next_at or null, $5 fire_at or null: nothing is fired,
--          $6 missed_from or null, $7 missed_to or null, $8 missed int
-- Returns: one row: tick_id (null: nothing is fired, or a backfill has done it), lateness_ms; no row: somebody else did it.
-- Locks:   the schedule's row, until the transaction ends. A process that is frozen before that loses it after two idle
--          seconds: nobody else could tick meanwhile. Whoever comes second has the lock too, so the update itself asks for that.
-- Index:   schedule_pkey, schedule_tick_once_idx
with clock as (
  select coalesce($1::timestamptz, clock_timestamp()) as now, set_config('idle_in_transaction_session_timeout', '2s', true) as patience
),
moved as (
  update millrace.schedule
  set next_at = $4, missed = missed + $8::integer, revision = revision + 1
  from clock
  where name = $2
    and revision = $3
    and paused_at is null
  returning name, last_fire_at
),
passed as (
  insert into millrace.schedule_tick (schedule, fire_at, origin, outcome, missed, missed_to, lateness_ms, at)
  select name, $6::timestamptz, 'due', 'missed', $8::integer, $7::timestamptz, extract(epoch from now - $6::timestamptz)::float8 * 1000, now
  from moved, clock
  where $8 > 0
),
tick as (
  insert into millrace.schedule_tick (schedule, fire_at, origin, outcome, lateness_ms, previous_fire_at, at)
  select name, $5::timestamptz, 'due', 'running', extract(epoch from now - $5::timestamptz)::float8 * 1000, last_fire_at, now
  from moved, clock
  where $5::timestamptz is not null
  on conflict (schedule, fire_at) where origin <> 'manual' and outcome <> 'missed' do nothing
  returning id, lateness_ms
)
select tick.id as tick_id, tick.lateness_ms
from moved
  left join tick on true;
