-- Pause a queue, a type, a tenant, or the jobs that belong to several of them. Replaces an earlier pause of this target by the
-- same author. Pauses by other authors stay, and the target is paused while any of them lasts.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 type text, $4 tenant text, $5 reason text, $6 author text, $7 for_ms float8 or null
-- Returns: the pause.
-- Locks:   its row.
-- Index:   pause_is_one_per_author
insert into millrace.pause (queue, type, tenant, reason, author, created_at, expires_at)
values ($2, $3, $4, $5, $6, coalesce($1, now()), coalesce($1, now()) + $7::float8 * interval '1 millisecond')
on conflict (queue, type, tenant, author) do update
set reason = excluded.reason, created_at = excluded.created_at, expires_at = excluded.expires_at
returning queue, type, tenant, reason, author as by, created_at, expires_at;
