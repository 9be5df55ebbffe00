-- How the queues stood, by the minute, hour or day: the highest figures of each queue in each step.
-- Params:  $1 from timestamptz, $2 to timestamptz, both at the edge of a step; $3 step text: minute, hour or day; $4 queue text or null
-- Returns: at, queue (null: the queues were looked at, and were empty), waiting, due, running, oldest_due_ms; in order of time
-- Locks:   none
-- Index:   queue_sample_pkey, queue_sample_hour_pkey
with rolled_up as materialized (
  select coalesce(max(hour) + interval '1 hour', '-infinity') as until from millrace.queue_sample_hour
),
sampled as (
  select minute as at, queues, waiting, due, running, oldest_due_ms
  from millrace.queue_sample
  where minute >= case when $3::text = 'minute' then $1::timestamptz else greatest($1, (select until from rolled_up)) end
    and minute < $2::timestamptz
  union all
  select hour, queues, waiting, due, running, oldest_due_ms
  from millrace.queue_sample_hour
  where $3 <> 'minute' and hour >= $1 and hour < $2
)
select date_trunc($3, at, 'UTC') as at, queue, max(one.waiting) as waiting, max(one.due) as due, max(one.running) as running,
  max(one.oldest_due_ms) as oldest_due_ms
from sampled
left join lateral unnest(queues, waiting, due, running, oldest_due_ms) as one (queue, waiting, due, running, oldest_due_ms)
  on $4::text is null or one.queue = $4
group by 1, 2
order by 1, 2;
