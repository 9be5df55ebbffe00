-- Forget holds whose full hour has passed: their jobs were tried again, or have ended.
-- Params:  $1 now timestamptz or null, $2 limit int
-- Returns: one row for each hold that is gone.
-- Locks:   those rows, passing over ones that another transaction has
-- Index:   budget_hold_for_prune_idx
delete from millrace.budget_hold
where ctid = any(array(
  select ctid
  from millrace.budget_hold
  where until < coalesce($1, now()) - interval '5 minutes'
  limit $2
  for update skip locked
))
returning job_id;
