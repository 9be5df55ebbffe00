-- End a silence.
-- Params:  $1 now timestamptz or null, $2 name text, $3 subject text or null for the silence of all
-- Returns: the silence that ended; nothing if there was none.
-- Locks:   that row.
-- Index:   alert_silence_idx
delete from millrace.alert_silence
where name = $2
  and subject is not distinct from $3
  and until > coalesce($1, now())
returning name, subject, reason, author as by, created_at, until;
