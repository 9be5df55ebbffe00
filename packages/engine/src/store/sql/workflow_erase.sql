-- Take out of workflows what they were started with: of those that have one of these jobs, or are these.
-- Params:  $1 job_ids bigint[], $2 ids bigint[]
-- Returns: the ids of all of them.
-- Locks:   those workflows, in order, as whoever advances them
-- Index:   workflow_item_by_job_idx, workflow_pkey
with chosen as materialized (
  select id
  from millrace.workflow
  where id = any($2::bigint[] || array(select workflow_id from millrace.workflow_item where job_id = any($1::bigint[])))
  order by id
  for no key update
)
update millrace.workflow
set input = '{"erased": true}', reason = case when reason is not null then '[erased]' end
where id = any(array(select id from chosen))
returning id;
