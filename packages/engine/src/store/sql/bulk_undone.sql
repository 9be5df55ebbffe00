-- Say which operation takes another one back. One does.
-- Params:  $1 id bigint, $2 undone_by bigint
-- Returns: id, if no other one does.
-- Locks:   that row
-- Index:   bulk_operation_pkey
update millrace.bulk_operation
set undone_by = $2
where id = $1 and undone_by is null
returning id;
