-- Bulk operations with their counts, newest first.
-- Params:  $1 id or null for all, $2 tenant or null for all, $3 before id or null, $4 limit, $5 is_counted: without, all counts are 0,
--          because whoever works on an operation knows them, and counting it for each batch would take longer and longer
-- Returns: the operations.
-- Locks:   none
-- Index:   bulk_operation_pkey, bulk_item_pkey
select
  id, action, options, query, tenant, status, is_dry_run, rate, most, expected, is_capped, is_found, last_id, cursor, job_id, undo_of,
  undone_by, created_by, created_at, finished_at, cancelled_by, error, canary, stage, changed, already, refused, open, has_before
from (
  select *
  from millrace.bulk_operation
  where ($1::bigint is null or id = $1)
    and ($2::text is null or tenant = $2)
    and ($3::bigint is null or id < $3)
  order by id desc
  limit $4
) as operation
cross join lateral (
  select
    (count(*) filter (where outcome = 'changed'))::int as changed, (count(*) filter (where outcome = 'already'))::int as already,
    (count(*) filter (where outcome = 'refused'))::int as refused, (count(*) filter (where outcome is null))::int as open,
    coalesce(bool_or(outcome = 'changed' and before is not null), false) as has_before
  from millrace.bulk_item
  where operation_id = operation.id and $5
) as counts
order by id desc;
