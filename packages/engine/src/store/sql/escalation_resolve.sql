-- A fault is gone.
-- Params:  $1 now timestamptz or null, $2 keys text[]
-- Returns: the ids that were open.
-- Locks:   those rows.
-- Index:   escalation_open_idx
update millrace.escalation
set resolved_at = coalesce($1, now())
where key = any($2::text[])
  and resolved_at is null
returning id;
