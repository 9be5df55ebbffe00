-- Write the graph of a workflow that begins: all its steps, none of them started.
-- Params:  $1 workflow_id bigint; by position: $2 names text[], $3 afters jsonb (an array), $4 on_failures text[],
--          $5 can_be_undone bool[], $6 are_lists bool[], $7 kinds text[]
-- Returns: nothing
-- Locks:   none
insert into millrace.workflow_step (workflow_id, position, name, after, on_failure, can_be_undone, is_list, waits_for)
select $1, ord, name, after, on_failure, can_be_undone, is_list, nullif(kind, 'jobs')
from rows from (
  unnest($2::text[]),
  jsonb_array_elements($3::jsonb),
  unnest($4::text[], $5::bool[], $6::bool[], $7::text[])
) with ordinality as step (name, after, on_failure, can_be_undone, is_list, kind, ord);
