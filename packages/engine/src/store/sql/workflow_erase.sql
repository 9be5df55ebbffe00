-- Take out of workflows what they carried: of those that have one of these jobs, or are these.
-- Params:  $1 job_ids bigint[], $2 ids bigint[]
-- Returns: the ids that were not erased before.
-- Locks:   those workflows first, as whoever advances them, then their steps and items
-- Index:   workflow_item_by_job_idx, workflow_item_pkey, workflow_step_pkey, workflow_pkey
with chosen as materialized (
  select id
  from millrace.workflow
  where id = any($2::bigint[] || array(select workflow_id from millrace.workflow_item where job_id = any($1::bigint[])))
  order by id
  for no key update
),
items as (
  update millrace.workflow_item
  set payload = case when payload is not null then '{"erased": true}'::jsonb end,
      result = case when result is not null then '{"erased": true}'::jsonb end,
      reason = case when reason is not null then '[erased]' end
  where workflow_id = any(array(select id from chosen))
),
steps as (
  update millrace.workflow_step
  set reason = '[erased]'
  where workflow_id = any(array(select id from chosen))
    and reason is not null
)
update millrace.workflow
set input = '{"erased": true}', reason = case when reason is not null then '[erased]' end
where id = any(array(select id from chosen))
  and input is distinct from '{"erased": true}'
returning id;
