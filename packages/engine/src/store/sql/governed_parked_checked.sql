-- The parked tenants of a queue were looked at. Under the queue's lock.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 version float8 of the rules
-- Returns: nothing
-- Locks:   the queue's turn.
-- Index:   queue_turn_pkey
insert into millrace.queue_turn (queue, tenant, parked_version, parked_checked_at)
values ($2, '', $3::float8, coalesce($1, clock_timestamp()))
on conflict (queue) do update set parked_version = excluded.parked_version, parked_checked_at = excluded.parked_checked_at;
