-- Note what the code of a starting worker says about its budgets. What somebody has set meanwhile stays.
-- Params:  $1 now timestamptz or null, $2 names text[], $3 pers text[], $4 units text[], $5 time_zones text[], $6 limits bigint[],
--          $7 has_source bool[]
-- Returns: nothing.
-- Locks:   those budget rows, in the order given: pass them sorted by name.
-- Index:   budget_pkey
-- Fails for a time zone that this server does not know: at the start of a worker, not at its first job.
insert into millrace.budget (name, per, unit, time_zone, declared_limit, has_source, declared_at)
select name, per, unit, time_zone, declared_limit, has_source, coalesce($1, now())
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bool[])
  as declared (name, per, unit, time_zone, declared_limit, has_source)
where now() at time zone time_zone is not null
on conflict (name) do update
set per = excluded.per, unit = excluded.unit, time_zone = excluded.time_zone, declared_limit = excluded.declared_limit,
    has_source = excluded.has_source, declared_at = excluded.declared_at;
