-- Leave duties to other processes.
-- Params:  $1 names text[], $2 holder text
-- Returns: the names that were ours.
-- Locks:   those duty rows
-- Index:   duty_pkey
delete from millrace.duty
where name = any($1::text[])
  and holder = $2
returning name;
