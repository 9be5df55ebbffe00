-- Forget ticks that are long past.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int
-- Returns: one row for each tick forgotten.
-- Locks:   those rows, skipping locked ones
-- Index:   schedule_tick_for_prune_idx
delete from millrace.schedule_tick
where id = any(array(
  select id
  from millrace.schedule_tick
  where at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
    and outcome <> 'running'
  order by at
  limit $3
  for update skip locked
))
returning id;
