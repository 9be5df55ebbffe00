-- Choose jobs as canaries of a bulk operation, while it chooses them.
-- Params:  $1 id bigint, $2 job_ids bigint[]
-- Returns: nothing.
-- Locks:   the row of bulk_operation
-- Index:   bulk_operation_pkey, bulk_item_pkey, bulk_canary_pkey
with operation as (
  select id
  from millrace.bulk_operation
  where id = $1 and status = 'running' and stage = 'choosing'
  for update
),
items as (
  insert into millrace.bulk_item (operation_id, job_id)
  select operation.id, job_id
  from operation
  cross join unnest($2::bigint[]) as job_id
  on conflict do nothing
)
insert into millrace.bulk_canary (operation_id, job_id)
select operation.id, job_id
from operation
cross join unnest($2::bigint[]) as job_id
on conflict do nothing;
