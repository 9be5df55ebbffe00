-- Keep the highest figures of each queue in the hours that are over.
-- Params:  $1 now timestamptz or null, $2 settle_ms float8: how long after its end an hour is over
-- Returns: nothing
-- Locks:   the rows of those hours, in the order of their keys, so that two processes cannot wait for each other.
-- Index:   queue_sample_hour_pkey, queue_sample_pkey
-- Running it again changes nothing. The newest stored hour is looked at once more, for a sample that came late.
with span as materialized (
  select coalesce((select max(hour) from millrace.queue_sample_hour), '-infinity') as since,
    date_trunc('hour', coalesce($1, now()) - $2::float8 * interval '1 millisecond', 'UTC') as until
),
highest as (
  select date_trunc('hour', minute, 'UTC') as hour, queue, max(one.waiting) as waiting, max(one.due) as due, max(one.running) as running,
    max(one.oldest_due_ms) as oldest_due_ms
  from millrace.queue_sample
  left join lateral unnest(queues, waiting, due, running, oldest_due_ms) as one (queue, waiting, due, running, oldest_due_ms) on true
  where minute >= (select since from span) and minute < (select until from span)
  group by 1, 2
)
insert into millrace.queue_sample_hour (hour, queues, waiting, due, running, oldest_due_ms)
select hour, coalesce(array_agg(queue order by queue) filter (where queue is not null), '{}'),
  coalesce(array_agg(waiting order by queue) filter (where queue is not null), '{}'),
  coalesce(array_agg(due order by queue) filter (where queue is not null), '{}'),
  coalesce(array_agg(running order by queue) filter (where queue is not null), '{}'),
  coalesce(array_agg(oldest_due_ms order by queue) filter (where queue is not null), '{}')
from highest
group by hour
order by hour
on conflict (hour) do update
set queues = excluded.queues, waiting = excluded.waiting, due = excluded.due, running = excluded.running,
    oldest_due_ms = excluded.oldest_due_ms
where queue_sample_hour is distinct from excluded;
