-- Which fire times of a range need no backfill?
-- Params:  $1 schedule, $2 from, $3 to: timestamptz, both included
-- Returns: fire_at of those that were ticked and have not failed.
-- Locks:   none
-- Index:   schedule_tick_once_idx
select fire_at
from millrace.schedule_tick
where schedule = $1
  and fire_at between $2 and $3
  and origin <> 'manual'
  and outcome not in ('missed', 'failed');
