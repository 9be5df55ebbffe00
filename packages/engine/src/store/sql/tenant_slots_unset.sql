-- Let the tenant's own slots hold in a queue again.
-- Params:  $1 tenant text, $2 queue text
-- Returns: the queue, if slots were set for it.
-- Locks:   its row.
-- Index:   tenant_slots_pkey
delete from millrace.tenant_slots
where tenant = $1
  and queue = $2
returning queue;
