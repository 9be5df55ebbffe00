-- Let a stopped key go on with its next job.
-- Params:  $1 queue text, $2 tenant text, $3 key text
-- Returns: job_id of the job whose death had stopped it; no row: it was not stopped.
-- Locks:   that row
-- Index:   order_stop_pkey
delete from millrace.order_stop
where queue = $1
  and tenant = $2
  and order_key = $3
returning job_id;
