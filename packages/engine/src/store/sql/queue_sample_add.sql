-- Note how the queues stand, unless that was noted in this minute.
-- Params:  $1 at timestamptz, $2 queues text[], $3 waiting int[], $4 due int[], $5 running int[], $6 oldest_due_ms float8[]
-- Returns: nothing
-- Locks:   none that another process waits for longer than this statement takes
-- Index:   queue_sample_pkey
insert into millrace.queue_sample (minute, queues, waiting, due, running, oldest_due_ms)
values (date_trunc('minute', $1::timestamptz, 'UTC'), $2, $3, $4, $5, $6)
on conflict (minute) do nothing;
