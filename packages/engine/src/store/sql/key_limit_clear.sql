-- Let the contract, or the setting of the whole queue, say again how many jobs of a key may run at once.
-- Params:  $1 queue text, $2 key text or null for all of the queue
-- Returns: concurrency as it was set; no row: it was not.
-- Locks:   that row
-- Index:   key_limit_setting_queue_limit_key_key
delete from millrace.key_limit_setting
where queue = $1
  and limit_key is not distinct from $2
returning concurrency;
