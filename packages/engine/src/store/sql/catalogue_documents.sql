-- What the catalogue says, without who declares it.
-- Params:  $1 kinds text[], $2 names text[] or null
-- Returns: kind, name, document
-- Locks:   none
-- Index:   catalogue_entry_pkey
select kind, name, document
from millrace.catalogue_entry
where kind = any($1::text[])
  and ($2::text[] is null or name = any($2))
order by kind, name;
