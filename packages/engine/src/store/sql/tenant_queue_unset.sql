-- Leave a tenant's limit in a queue to the queue again.
-- Params:  $1 tenant text, $2 queue text
-- Returns: the queue, if a limit was set.
-- Locks:   its row.
-- Index:   tenant_queue_pkey
delete from millrace.tenant_queue
where tenant = $1
  and queue = $2
returning queue;
