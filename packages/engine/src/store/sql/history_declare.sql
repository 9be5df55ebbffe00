-- Keep the history of these types, unless somebody has decided about one before.
-- Params:  $1 now timestamptz or null, $2 types text[], $3 by text
-- Returns: the types that were new.
-- Locks:   the new rows
-- Index:   history_setting_pkey
insert into millrace.history_setting (type, is_on, set_by, set_at)
select type, true, $3, coalesce($1, now())
from unnest($2::text[]) as type
on conflict (type) do nothing
returning type;
