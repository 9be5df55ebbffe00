-- Who keeps dead rows from being removed: the session, prepared transaction or replication slot with the oldest snapshot.
-- Params:  none
-- Returns: that one, or nothing. held_ms: null of a slot, which has an age in transactions only, and of a session whose
--          times this role may not see.
-- Locks:   none
-- Index:   none: server state
-- What a query of that session says is nobody's business here. A vacuum holds nobody up.
-- Without a time it may be one that moves on all the while: it counts from ten thousand transactions on.
select kind, pid, name, state, held_ms
from (
  select 'session' as kind, pid, nullif(application_name, '') as name, coalesce(state, backend_type, 'unknown') as state,
    extract(epoch from clock_timestamp() - xact_start)::float8 * 1000 as held_ms,
    greatest(age(backend_xmin), age(backend_xid)) as transactions
  from pg_stat_activity
  where (backend_xmin is not null or backend_xid is not null)
    and (datname = current_database() or datname is null)
    and pid <> pg_backend_pid()
    and pid not in (select pid from pg_stat_progress_vacuum)
  union all
  select 'prepared transaction', null, gid, 'prepared', extract(epoch from clock_timestamp() - prepared)::float8 * 1000,
    age(transaction)
  from pg_prepared_xacts
  where database = current_database()
  union all
  select 'replication slot', active_pid, slot_name, case when active then 'active' else 'inactive' end, null, age(xmin)
  from pg_replication_slots
  where xmin is not null
) as holders
where held_ms is not null or transactions >= 10000
order by transactions desc
limit 1;
