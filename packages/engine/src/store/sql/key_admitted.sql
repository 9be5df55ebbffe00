-- The jobs that take the places of a key.
-- Params:  $1 queue text, $2 tenant text, $3 order_key text or null, $4 limit_key text or null, $5 limit int
-- Returns: id, status, run_at, started_at
-- Locks:   none
-- Index:   job_admitted_by_order_idx, job_admitted_by_limit_idx
(
  select id, status, run_at, started_at from millrace.job
  where queue = $1 and coalesce(tenant, '') = $2 and order_key = $3::text and status <> 'blocked'
  order by id limit $5
)
union all
(
  select id, status, run_at, started_at from millrace.job
  where queue = $1 and coalesce(tenant, '') = $2 and limit_key = $4::text and status <> 'blocked'
  order by id limit $5
);
