-- Move a running bulk operation with a canary on to its next stage.
-- Params:  $1 id bigint, $2 from_stages text[], $3 stage text, $4 rate int or null: as it was
-- Returns: id, if it was in one of those stages.
-- Locks:   that row
-- Index:   bulk_operation_pkey
update millrace.bulk_operation
set stage = $3, rate = coalesce($4::int, rate)
where id = $1
  and status = 'running'
  and stage = any($2::text[])
returning id;
