-- Decide whether the history of a type is kept.
-- Params:  $1 now timestamptz or null, $2 type text, $3 is_on bool, $4 by text
-- Returns: nothing
-- Locks:   that row
-- Index:   history_setting_pkey
insert into millrace.history_setting (type, is_on, set_by, set_at)
values ($2, $3, $4, coalesce($1, now()))
on conflict (type) do update
set is_on = excluded.is_on, set_by = excluded.set_by, set_at = excluded.set_at;
