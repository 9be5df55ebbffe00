-- How many letters each tenant has in each queue, by what was decided about them.
-- Params:  $1 limit int
-- Returns: the most pending first. `tenant` is null for jobs without one.
-- Locks:   none
-- Index:   none, it reads all letters
select queue, tenant,
  count(*) filter (where status = 'pending')::int as pending,
  count(*) filter (where status = 'retried')::int as retried,
  count(*) filter (where status = 'resolved')::int as resolved,
  count(*) filter (where status = 'ignored')::int as ignored,
  min(died_at) filter (where status = 'pending') as oldest_pending_at
from millrace.dead_letter_jobs
group by queue, tenant
order by pending desc, queue, tenant
limit $1;
