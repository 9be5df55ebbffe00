-- Silence alerts, or change the silence that there is.
-- Params:  $1 now timestamptz or null, $2 name text, $3 subject text or null for all, $4 reason text, $5 author text,
--          $6 until timestamptz or null, $7 for_ms float8 or null: one of the two
-- Returns: name, subject, reason, by, created_at, until
-- Locks:   that row.
-- Index:   alert_silence_idx
insert into millrace.alert_silence (name, subject, reason, author, created_at, until)
values ($2, $3, $4, $5, coalesce($1, now()), coalesce($6::timestamptz, coalesce($1, now()) + $7::float8 * interval '1 millisecond'))
on conflict (name, subject) do update
set reason = excluded.reason, author = excluded.author, created_at = excluded.created_at, until = excluded.until
returning name, subject, reason, author as by, created_at, until;
