-- Forget old escalations.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int
-- Returns: the ids that were forgotten.
-- Locks:   those rows, passing over locked ones.
-- Index:   escalation_for_prune_idx
delete from millrace.escalation
where ctid = any(array(
  select ctid from millrace.escalation
  where created_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  order by created_at
  limit $3
  for update skip locked
))
returning id;
