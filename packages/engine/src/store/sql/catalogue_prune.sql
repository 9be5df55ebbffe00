-- Forget entries that no living worker has declared for long, and programs of which no worker is known any more.
-- Params:  $1 now timestamptz or null, $2 age_ms float8
-- Returns: kind, name of the entries forgotten.
-- Locks:   those rows. Refresh the entries first, under the same advisory lock.
-- Index:   none: there are as many rows as declarations.
-- Workers of older versions write their program before their lease: within the hour it may not have a worker yet.
with gone as (
  delete from millrace.catalogue_program as program
  where started_at < now() - interval '1 hour'
    and not exists (select from millrace.worker where worker.program = program.hash)
)
delete from millrace.catalogue_entry
where last_seen < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
returning kind, name;
