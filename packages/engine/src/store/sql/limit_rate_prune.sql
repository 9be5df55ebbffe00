-- Forget rates of which nothing counts any more: the period after the last start is over, and so is a hold.
-- Params:  $1 now timestamptz or null, $2 unknown_ms float8: the period of rows that do not say theirs, $3 limit int
-- Returns: one row for each rate forgotten.
-- Locks:   those rows, skipping what a claim is writing
-- Index:   none: one pass over the table an hour. An index on updated_at would make every start write it.
-- Starts are rounded up by a thirtieth of the period (governance/rate-window.ts). The minute more covers the time from the begin of
-- a claim, which is updated_at, to its own reading of the clock.
delete from millrace.limit_rate
where ctid = any(array(
  select ctid
  from millrace.limit_rate
  where updated_at < coalesce($1, now()) - (coalesce(period_ms, $2::float8) * 31 / 30 + 60000) * interval '1 millisecond'
    and (held_until is null or held_until <= coalesce($1, now()))
  limit $3
  for update skip locked
))
  and updated_at < coalesce($1, now()) - (coalesce(period_ms, $2) * 31 / 30 + 60000) * interval '1 millisecond'
  and (held_until is null or held_until <= coalesce($1, now()))
returning true as forgotten;
