-- Add jobs to a bulk operation, and say how far its search has come. Nothing is added if another run has come as far.
-- Params:  $1 id bigint, $2 job_ids bigint[], $3 befores integer[] or null: priorities to go back to, $4 cursor_before bigint, $5 cursor bigint,
--          $6 is_found boolean: there is no more to find
-- Returns: one row, if it was this run's turn.
-- Locks:   that row of bulk_operation
-- Index:   bulk_operation_pkey, bulk_item_pkey
with turn as (
  update millrace.bulk_operation
  set cursor = $5, is_found = $6
  where id = $1 and cursor = $4
  returning id
),
added as (
  insert into millrace.bulk_item (operation_id, job_id, before)
  select turn.id, item.job_id, item.before
  from turn
  cross join unnest($2::bigint[], $3::integer[]) as item (job_id, before)
  on conflict do nothing
)
select id from turn;
