-- Let nothing more start under a limit for a while: the service behind it said so.
-- Params:  $1 now timestamptz or null, $2 name text, $3 tenant text, empty for all, $4 delay_ms float8
-- Returns: nothing.
-- Locks:   its row.
insert into millrace.limit_rate (name, tenant, starts, period_ms, held_until, updated_at)
values ($2, $3, '[]', 0, coalesce($1, now()) + $4::float8 * interval '1 millisecond', coalesce($1, now()))
on conflict (name, tenant) do update
set held_until = greatest(limit_rate.held_until, excluded.held_until), updated_at = excluded.updated_at;
