-- How many live jobs each queue holds.
-- Params:  $1 now timestamptz or null
-- Returns: queue, due, scheduled, processing, blocked
-- Locks:   none
-- Index:   none: reads the live table, which is as large as the backlog. Not for a hot path.
select
  queue,
  count(*) filter (where status = 'pending' and run_at <= coalesce($1, now()))::int as due,
  count(*) filter (where status = 'pending' and run_at > coalesce($1, now()))::int as scheduled,
  count(*) filter (where status = 'processing')::int as processing,
  count(*) filter (where status = 'blocked')::int as blocked
from millrace.job
group by queue
order by queue;
