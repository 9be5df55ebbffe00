-- Jobs of workflows have ended for good: record it, and count them off their steps. In the transaction that ends them, and
-- behind the statement that does: those that are still there have not ended, whatever is said of them.
-- Params:  $1 job_ids bigint[], in order and none twice, $2 statuses text[]: 'completed', 'failed' or 'cancelled',
--          $3 results jsonb: an array of [] or [result], $4 reasons text[], $5 patience text or null: the transaction is
--          somebody else's
-- Returns: workflow_id and name of the workflow for each step that was counted down; name is null if its jobs have not all
--          ended, so that nothing can follow. Said twice, the second time nothing.
-- Locks:   those items, in the order of their jobs; then their steps, in order. Never a workflow. A process that is frozen
--          before its commit loses them with its connection after so much idle time: others have jobs of those steps, too.
-- Index:   workflow_item_by_job_idx, job_pkey, workflow_step_pkey, workflow_pkey
-- `offset 0` keeps the planner from reading all jobs there are. width_bucket is a job's position among the ids, as in job_finish.sql.
with recorded as (
  update millrace.workflow_item
  set status = ($2::text[])[width_bucket(job_id, $1)], reason = ($4::text[])[width_bucket(job_id, $1)],
      result = $3::jsonb -> (width_bucket(job_id, $1) - 1) -> 0
  where job_id = any($1::bigint[])
    and status = 'running'
    and not exists (select from millrace.job where id = job_id offset 0)
  returning workflow_id, position, kind, status
),
ended as materialized (
  select
    workflow_id, position, count(*) filter (where kind = 'do') as done,
    count(*) filter (where kind = 'do' and status = 'failed') as failed,
    count(*) filter (where kind = 'do' and status = 'cancelled') as cancelled,
    count(*) filter (where kind = 'undo') as undone,
    count(*) filter (where kind = 'undo' and status <> 'completed') as not_undone
  from recorded
  group by workflow_id, position
),
locked as materialized (
  select step.workflow_id, step.position
  from millrace.workflow_step as step
  join ended using (workflow_id, position)
  order by step.workflow_id, step.position
  for no key update of step
)
update millrace.workflow_step as step
set items_left = items_left - done, items_failed = items_failed + failed, items_cancelled = items_cancelled + cancelled,
    ended_at = case when done > 0 and items_left = done then now() else ended_at end,
    undo_left = undo_left - undone, undo_failed = undo_failed + not_undone,
    needs_advance = needs_advance or done > 0 and items_left = done or undone > 0 and undo_left = undone
from ended
join locked using (workflow_id, position)
where step.workflow_id = ended.workflow_id
  and step.position = ended.position
returning step.workflow_id,
  case when step.needs_advance then (select name from millrace.workflow where id = step.workflow_id) end as name,
  case when $5::text is not null then set_config('idle_in_transaction_session_timeout', $5, true) end as patience;
