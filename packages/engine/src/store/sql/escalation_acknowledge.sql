-- Somebody looks after these faults: all open escalations with the keys of the given ones.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 by text
-- Returns: the ids that were not acknowledged before.
-- Locks:   those rows.
-- Index:   escalation_pkey, escalation_open_idx
update millrace.escalation
set acknowledged_at = coalesce($1, now()), acknowledged_by = $3
where key = any(array(select key from millrace.escalation where id = any($2::bigint[])))
  and resolved_at is null
  and acknowledged_at is null
returning id;
