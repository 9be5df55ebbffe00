-- Forget workflows that ended long ago, each as a whole, oldest first.
-- Params:  $1 now timestamptz or null, $2 retentions text[], $3 days int[] of those, $4 items int: about so many rows at once
-- Returns: the ids forgotten.
-- Locks:   those workflows, skipping what somebody is changing
-- Index:   workflow_for_prune_idx, workflow_pkey, workflow_step_pkey, workflow_item_pkey, workflow_signal_pkey
with expired as materialized (
  select over.id
  from unnest($2::text[], $3::int[]) as kept (retention, days)
  cross join lateral (
    select id
    from millrace.workflow
    where retention = kept.retention
      and finished_at < coalesce($1, now()) - days * interval '1 day'
      -- A step of another one is kept as long as that, which may ask for its results, or undo it.
      and (select parent.id from millrace.workflow as parent where parent.id = workflow.parent_id) is null
    order by finished_at
    limit 100
    for update skip locked
  ) as over
),
sized as (
  select id, sum(size) over (order by id) - size as before
  from expired
  cross join lateral (
    select coalesce(sum(items), 0) as size from millrace.workflow_step where workflow_id = expired.id
  ) as steps
),
chosen as materialized (
  select id from sized where before < $4::int
),
items as (
  delete from millrace.workflow_item where workflow_id = any(array(select id from chosen))
),
signals as (
  delete from millrace.workflow_signal where workflow_id = any(array(select id from chosen))
),
steps as (
  delete from millrace.workflow_step where workflow_id = any(array(select id from chosen))
)
delete from millrace.workflow
where id = any(array(select id from chosen))
returning id;
