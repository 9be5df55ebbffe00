-- Bring the entries to what living workers declare. Of several programs the one that was started last counts.
-- Params:  $1 now timestamptz or null, $2 again_ms float8: an entry that was seen longer ago is marked as seen again
-- Returns: kind, name of the entries that were written.
-- Locks:   those rows. Take the advisory lock 'catalogue' in an earlier statement: it makes the newest program visible here.
-- Index:   catalogue_entry_pkey; the others have a row per program and per process.
-- Leases are on the database's own clock.
with living as (
  select hash, version, document, started_at
  from millrace.catalogue_program as program
  where exists (
    select from millrace.worker
    where worker.program = program.hash and ended_at is null and expires_at > now()
  )
),
declared as (
  select distinct on (kind, name) kind, name, entry.document, hash, version
  from living
  cross join jsonb_each(living.document) as kinds (kind, entries)
  cross join jsonb_each(entries) as entry (name, document)
  order by kind, name, started_at desc, hash
)
insert into millrace.catalogue_entry as known (kind, name, document, program, version, first_seen, last_seen)
select kind, name, document, hash, version, coalesce($1, now()), coalesce($1, now())
from declared
order by kind, name
on conflict (kind, name) do update
set document = excluded.document, program = excluded.program, version = excluded.version, last_seen = excluded.last_seen
where known.program <> excluded.program
   or known.last_seen < excluded.last_seen - $2::float8 * interval '1 millisecond'
returning kind, name;
