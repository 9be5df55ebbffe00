-- Forget alerts that never fired and no longer hold, and those that cleared long ago.
-- Params:  $1 now timestamptz or null, $2 names text[], $3 subjects text[], by position: those that never fired;
--          $4 age_ms float8: how long cleared ones are kept
-- Returns: nothing.
-- Locks:   those alert rows.
-- Index:   alert_pkey; the table has few rows.
-- Rules that no program has any more are not measured: what they left is forgotten too.
delete from millrace.alert
where (name, subject) in (select * from unnest($2::text[], $3::text[]))
  or greatest(cleared_at, seen_at) < coalesce($1, now()) - $4::float8 * interval '1 millisecond';
