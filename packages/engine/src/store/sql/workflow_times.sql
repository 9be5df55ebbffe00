-- When the jobs of a workflow's steps ran, for a picture of them.
-- Params:  $1 workflow_id bigint, $2 items int: of so many jobs of a step, the first ones
-- Returns: for each step, and for the undo of each: name, position, kind, type, queue, jobs, how many were retried, enqueued_at, started_at,
--          ended_at (null while one lives), half_ms, most_ms and max_ms of the runs (p50, p95 and the longest), slowest_job_id, states (a letter for each
--          job: r, c, f or x for cancelled), spread int[]: how many runs took how long, up to the longest in 16 parts
-- Locks:   none
-- Index:   workflow_item_pkey, job_pkey, job_archive_by_id_idx, workflow_by_parent_idx
with ran as materialized (
  select
    item.position, item.kind, item.item, item.job_id, job.type, job.queue, job.created_at, job.started_at, job.finished_at, job.attempt,
    case item.status when 'cancelled' then 'x' else left(item.status, 1) end as state,
    extract(epoch from coalesce(job.finished_at, now()) - job.started_at) * 1000 as took_ms
  from millrace.workflow_item as item
  left join lateral (
    select type, queue, created_at, started_at, null::timestamptz as finished_at, attempt
    from millrace.job
    where id = item.job_id
    union all
    select type, queue, created_at, started_at, finished_at, attempt
    from millrace.job_archive
    where id = item.job_id
    limit 1
  ) as job on true
  where item.workflow_id = $1 and item.item < $2
),
longest as (
  select position, kind, max(took_ms) as max_ms from ran group by position, kind
),
spread as (
  select position, kind, jsonb_object_agg(part, runs) as runs
  from (
    select position, kind, least(16, width_bucket(took_ms::float8, 0, greatest(max_ms, 1)::float8, 16)) as part, count(*) as runs
    from ran
    join longest using (position, kind)
    where took_ms is not null
    group by position, kind, part
  ) as parts
  group by position, kind
)
select
  (select name from millrace.workflow_step as step where step.workflow_id = $1 and step.position = ran.position) as name,
  position, kind, min(type) as type, min(queue) as queue, count(*)::int as jobs, (count(*) filter (where attempt > 1))::int as retried,
  min(created_at) as enqueued_at, min(started_at) as started_at,
  case when bool_and(finished_at is not null) then max(finished_at) end as ended_at,
  percentile_disc(0.5) within group (order by took_ms)::float8 as half_ms,
  percentile_disc(0.95) within group (order by took_ms)::float8 as most_ms, max(took_ms)::float8 as max_ms,
  (array_agg(job_id order by took_ms desc nulls last))[1] as slowest_job_id, string_agg(state, '' order by item) as states,
  (array_agg(spread.runs))[1] as spread
from ran
left join spread using (position, kind)
group by position, kind
union all
select
  (select name from millrace.workflow_step as step where step.workflow_id = $1 and step.position = child.parent_position),
  child.parent_position, 'do', child.name, null, 1, 0, child.created_at, child.created_at, child.finished_at,
  null, null, null, null, null, null
from (
  select distinct on (parent_position) parent_position, name, created_at, finished_at
  from millrace.workflow
  where parent_id = $1
  order by parent_position, id desc
) as child
order by position, kind;
