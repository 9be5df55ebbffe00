-- An automatic redrive was in vain: these letters wait anew, and let the ones behind them pass.
-- Params:  $1 now timestamptz or null, $2 ids bigint[]
-- Returns: the ids.
-- Locks:   those letters, skipping the ones that somebody is just changing
-- Index:   dead_letter_jobs_pkey
update millrace.dead_letter_jobs
set redrive_since = coalesce($1, now())
where id in (
  select id
  from millrace.dead_letter_jobs
  where id = any($2::bigint[])
  order by id
  for no key update skip locked
)
returning id;
