-- Set the limit of a budget from now on, or take the setting away.
-- Params:  $1 now timestamptz or null, $2 name text, $3 per text, $4 unit text, $5 time_zone text, $6 declared_limit bigint,
--          $7 has_source bool: for a budget that nobody has declared yet; $8 limit bigint or null
-- Returns: nothing.
-- Locks:   that budget row.
-- Index:   budget_pkey
insert into millrace.budget (name, per, unit, time_zone, declared_limit, has_source, declared_at, limit_override)
values ($2, $3, $4, $5, $6, $7, coalesce($1, now()), $8)
on conflict (name) do update
set limit_override = excluded.limit_override;
