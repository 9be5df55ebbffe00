-- Take a duty, or keep it, if no other process holds it.
-- Params:  $1 name text, $2 holder text, $3 ttl_ms float8
-- Returns: the name if it is ours, else nothing.
-- Locks:   that duty row, for the moment.
-- Index:   duty_pkey
-- On the database's own clock, as every lease.
insert into millrace.duty as duty (name, holder, until)
values ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
on conflict (name) do update
set holder = excluded.holder, until = excluded.until
where duty.holder = excluded.holder
   or duty.until <= clock_timestamp()
returning name;
