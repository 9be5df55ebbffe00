-- Forget windows that are over.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: one row for each window forgotten.
-- Locks:   those rows, skipping what an enqueue is renewing
-- Index:   dedup_window_for_prune_idx, then by place: a window has no other short name.
delete from millrace.dedup_window
where ctid = any(array(
  select ctid
  from millrace.dedup_window
  where expires_at <= coalesce($1, now())
  order by expires_at
  limit $2
  for update skip locked
))
  and expires_at <= coalesce($1, now())
returning true as forgotten;
