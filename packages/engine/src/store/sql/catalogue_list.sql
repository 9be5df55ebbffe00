-- The catalogue, with the living workers that declare each entry, and those that declare it otherwise.
-- Params:  $1 kind text or null, $2 names text[] or null
-- Returns: one row per entry, by kind and name.
-- Locks:   none
-- Index:   catalogue_entry_pkey
with living as (
  select id, host, pid, program
  from millrace.worker
  where ended_at is null and expires_at > now() and program is not null
),
declared as (
  select kind, name, entry.document, hash, version
  from millrace.catalogue_program
  cross join jsonb_each(catalogue_program.document) as kinds (kind, entries)
  cross join jsonb_each(entries) as entry (name, document)
  where hash in (select program from living)
    and ($1::text is null or kind = $1)
    and ($2::text[] is null or name = any($2))
)
select known.kind, known.name, known.document, known.version, known.first_seen,
  case when count(living.id) > 0 then now() else known.last_seen end as last_seen,
  count(living.id)::int as workers,
  coalesce(jsonb_agg(jsonb_build_object('id', living.id, 'host', living.host, 'pid', living.pid, 'version', declared.version)
    order by living.host, living.pid, living.id) filter (where declared.document <> known.document), '[]') as differing
from millrace.catalogue_entry as known
left join declared on declared.kind = known.kind and declared.name = known.name
left join living on living.program = declared.hash
where ($1::text is null or known.kind = $1)
  and ($2::text[] is null or known.name = any($2))
group by known.kind, known.name
order by known.kind, known.name;
