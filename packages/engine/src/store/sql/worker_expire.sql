-- End the leases that ran out: the compare-and-swap after which a silent worker's runs may be taken away.
-- Params:  $1 now timestamptz or null
-- Returns: id, host, pid of the workers declared dead.
-- Locks:   those worker rows; skips one that is being renewed right now.
-- Index:   none: the table has a row per process.
update millrace.worker
set ended_at = coalesce($1, now()), ended_reason = 'lease expired'
where id in (
    select id
    from millrace.worker
    where ended_at is null
      and expires_at < coalesce($1, now())
    order by id
    for no key update skip locked
  )
  and ended_at is null
  and expires_at < coalesce($1, now())
returning id, host, pid;
