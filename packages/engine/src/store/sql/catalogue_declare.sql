-- Write down the program of a worker that starts.
-- Params:  $1 now timestamptz or null, $2 hash text, $3 version text or null, $4 document jsonb
-- Returns: nothing.
-- Locks:   that row
-- Index:   catalogue_program_pkey
insert into millrace.catalogue_program (hash, version, document, first_seen, started_at)
values ($2, $3, $4, coalesce($1, now()), coalesce($1, now()))
on conflict (hash) do update
set started_at = excluded.started_at;
