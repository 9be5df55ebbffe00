-- Say how many jobs of a key may run at once, instead of the contract.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 key text or null for all of the queue, $4 concurrency int, $5 by text
-- Returns: nothing
-- Locks:   that row
-- Index:   key_limit_setting_queue_limit_key_key
insert into millrace.key_limit_setting (queue, limit_key, concurrency, set_by, set_at)
values ($2, $3, $4, $5, coalesce($1, now()))
on conflict (queue, limit_key) do update
set concurrency = excluded.concurrency, set_by = excluded.set_by, set_at = excluded.set_at;
