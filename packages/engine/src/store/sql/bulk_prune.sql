-- Forget the reports of bulk operations that ended long ago: their items first, a batch at a time.
-- Params:  $1 now timestamptz or null, $2 age_ms float8, $3 limit int, of items
-- Returns: count, of items and operations.
-- Locks:   those rows
-- Index:   bulk_operation_for_prune_idx, bulk_item_pkey
with old as (
  select id
  from millrace.bulk_operation
  where finished_at < coalesce($1, now()) - $2::float8 * interval '1 millisecond'
  order by finished_at
  limit 100
),
items as (
  delete from millrace.bulk_item
  where (operation_id, job_id) in (
    select operation_id, job_id from millrace.bulk_item where operation_id in (select id from old) limit $3
  )
  returning 1
),
operations as (
  delete from millrace.bulk_operation
  where id in (select id from old)
    and not exists (select from millrace.bulk_item where operation_id = bulk_operation.id)
  returning 1
)
select ((select count(*) from items) + (select count(*) from operations))::int as count;
