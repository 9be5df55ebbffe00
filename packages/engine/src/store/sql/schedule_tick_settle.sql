-- Note what became of a tick, and on its schedule when jobs were last enqueued and how many ticks in a row have failed.
-- Params:  $1 id, $2 outcome, $3 reason or null, $4 job_id or null, $5 jobs int, $6 refused int, added to those before
-- Returns: the tick's schedule.
-- Locks:   the tick's row and that of its schedule, until the transaction ends
-- Index:   schedule_tick_pkey, schedule_pkey
with tick as (
  update millrace.schedule_tick
  set outcome = $2, reason = coalesce($3, reason), job_id = $4, jobs = jobs + $5::integer, refused = refused + $6::integer
  where id = $1
  returning schedule, fire_at, origin, outcome
),
noted as (
  update millrace.schedule
  set failures = case tick.outcome when 'failed' then failures + 1 when 'running' then failures else 0 end,
    last_fire_at = case when tick.outcome in ('running', 'enqueued') then greatest(last_fire_at, tick.fire_at) else last_fire_at end
  from tick
  where schedule.name = tick.schedule
    and tick.origin = 'due'
)
select schedule from tick;
