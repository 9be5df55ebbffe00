-- Forget entries of the audit log that are long past.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int
-- Returns: the ids that were forgotten.
-- Locks:   those rows, skipping locked ones
-- Index:   audit_log_pkey. Ids grow with time, so only the oldest entries are looked at.
delete from millrace.audit_log
where id = any(array(
  select id
  from (select id, at from millrace.audit_log order by id limit $3 for update skip locked) as oldest
  where at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
))
returning id;
