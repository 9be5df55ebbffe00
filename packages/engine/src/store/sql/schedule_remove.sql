-- Remove a schedule and its ticks. Its jobs stay.
-- Params:  $1 name
-- Returns: its name; no row: there is none.
-- Locks:   its rows
-- Index:   schedule_pkey, schedule_tick_by_schedule_idx
with ticks as (
  delete from millrace.schedule_tick where schedule = $1
)
delete from millrace.schedule where name = $1 returning name;
