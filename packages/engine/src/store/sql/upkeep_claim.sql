-- Take a repair upon oneself, if nobody has begun it within the interval: one process at a time, and no more often.
-- Params:  $1 task text, $2 interval_ms float8
-- Returns: the task if it is ours, else nothing.
-- Locks:   that upkeep row, for the moment.
-- Index:   upkeep_pkey
insert into millrace.upkeep as upkeep (task, started_at)
values ($1, now())
on conflict (task) do update
set started_at = now()
where upkeep.started_at <= now() - $2::float8 * interval '1 millisecond'
returning task;
