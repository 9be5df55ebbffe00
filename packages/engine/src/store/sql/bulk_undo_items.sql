-- Give an operation the jobs that another one has changed, with the priorities that they had.
-- Params:  $1 id bigint: the new operation, $2 undo_of bigint
-- Returns: nothing.
-- Locks:   none
-- Index:   bulk_item_pkey
insert into millrace.bulk_item (operation_id, job_id, before)
select $1, job_id, before
from millrace.bulk_item
where operation_id = $2 and outcome = 'changed' and before is not null;
