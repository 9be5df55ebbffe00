-- What the catalogue says, without who declares it.
-- Params:  $1 kinds text[]
-- Returns: kind, name, document
-- Locks:   none
-- Index:   catalogue_entry_pkey
select kind, name, document
from millrace.catalogue_entry
where kind = any($1::text[])
order by kind, name;
