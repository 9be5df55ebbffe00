-- What was left undone: workflows that nobody has advanced, and items whose job has ended without a word.
-- Params:  $1 now timestamptz or null, $2 names text[] of workflows that the asker can advance, $3 limit int of either,
--          $4 workflow_id bigint behind which to look for items, $5 steps int: of so many steps
-- Returns: what 'advance' and the id of a workflow, or 'unknown' and that of one that others have to advance and nothing holds,
--          or 'lost' and the id of a job, or 'seen' and the last workflow whose items were all looked at, if there may be more;
--          'due' and in how many ms the next waiting step is due.
-- Locks:   none
-- Index:   workflow_step_for_advance_idx, workflow_for_advance_idx, workflow_step_running_idx, workflow_step_by_due_idx,
--          workflow_item_pkey, job_pkey
-- Those that were put off come when it is time, so that however many of them never keep others waiting.
-- Items and jobs are seen as of one moment: what has no job then, although nobody recorded its end, never will. `offset 0`
-- keeps the planner from reading all items that ever were.
with open as materialized (
  select workflow_id as id from millrace.workflow_step where needs_advance
  union
  select id from millrace.workflow where advance_at <= coalesce($1, now())
  union
  select workflow_id
  from millrace.workflow_step
  where status = 'running' and waits_for is not null and due_at <= coalesce($1, now())
),
looked as materialized (
  select workflow_id, position
  from millrace.workflow_step
  where (status = 'running' or undo = 'running') and waits_for is null
    and workflow_id > $4
  order by workflow_id, position
  limit $5
)
(
  select 'advance' as what, id
  from millrace.workflow
  where id = any(array(select id from open))
    and name = any($2::text[])
    and (advance_at is null or advance_at <= coalesce($1, now()))
  order by id
  limit $3
)
union all
(
  select 'lost', item.job_id
  from looked
  cross join lateral (
    select job_id
    from millrace.workflow_item
    where workflow_id = looked.workflow_id and position = looked.position and status = 'running'
    offset 0
  ) as item
  where not exists (select from millrace.job where id = item.job_id)
  limit $3
)
union all
(
  select 'unknown', id
  from millrace.workflow
  where id = any(array(select id from open))
    and name <> all($2::text[])
    and held is null
  order by id
  limit $3
)
union all
select 'seen', max(workflow_id) from looked having count(*) = $5
union all
select 'due', ceil(extract(epoch from min(due_at) - coalesce($1, now())) * 1000)::bigint
from millrace.workflow_step
where status = 'running' and waits_for is not null and due_at > coalesce($1, now())
having count(*) > 0;
