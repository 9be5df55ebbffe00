-- The next moment at which a waiting job of these queues and types becomes due: where a test moves its clock to.
-- For millrace/testing only.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 types text[]
-- Returns: one row: due_at after now, rounded up to the milliseconds that JavaScript knows; null when nothing waits.
-- Locks:   none
-- Index:   job_for_claim_by_type_idx; the tables of tests are small.
select date_trunc('milliseconds', min(run_at) + interval '999 microseconds') as due_at
from millrace.job
where queue = any($2::text[])
  and type = any($3::text[])
  and (status = 'pending' or status = 'blocked' and limit_key is not null)
  and run_at > coalesce($1, now());
