-- Take due jobs from several queues whose heads hold types this worker cannot run: one stream per type, so that no
-- foreign backlog is ever scanned. Strict by priority; within one priority the types come in the order they are given.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 limits int[], $4 types text[] the worker can run,
--          $5 stuck_after_ms float8[] of those types, $6 run_id uuid, $7 worker_id uuid, $8 queues text[] that one suspect may come from,
--          $9 version bigint of the rules under which this queue is no governed one, or null,
--          $10 queues text[], $11 types text[], $12 priorities int[], $13 run_ats float8[] in seconds and $14 ids bigint[]: behind which
--          jobs streams are to be entered, in the order of their priorities
-- Returns: the claimed jobs; all carry the one run_id, which the caller made up before it asked.
-- Locks:   the claimed rows; skips what others hold.
-- Index:   job_for_claim_by_type_idx, job_for_claim_idx (the priorities), job_suspect_idx, worker_pkey
-- Everything else is as in job_claim.sql. A stream is a type at one priority. `offset 0` keeps the planner from turning the two loops around.
with due as materialized (
  select picked.id
  from (
    select set_config('synchronous_commit', 'off', true)
    where not exists (select from millrace.worker where id = $7 and ended_at is not null)
      and not exists (select from millrace.rules_version where version <> $9)
  ) as lease_not_ended
  cross join unnest($2::text[], $3::int[]) as wanted (queue, slots)
  cross join lateral (
    with recursive level (priority) as (
      select -1
      union all
      select next.priority
      from level
      left join lateral (
        select priority from unnest($10::text[], $12::int[]) as given (queue, priority)
        where queue = wanted.queue and priority > level.priority
        limit 1
      ) as entry on true
      cross join lateral (
        (select priority from millrace.job
         where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
           and priority > level.priority and priority < entry.priority
         order by priority limit 1)
        union all
        (select entry.priority where entry.priority is not null)
        union all
        (select priority from millrace.job
         where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
           and priority > level.priority and entry.priority is null
         order by priority limit 1)
        limit 1
      ) as next
    )
    select head.id
    from level
    cross join lateral (select type from unnest($4::text[]) as t (type) where level.priority >= 0 offset 0) as stream
    left join lateral (
      select to_timestamp(run_at_s) as run_at, id
      from unnest($10::text[], $11::text[], $12::int[], $13::float8[], $14::bigint[]) as given (queue, type, priority, run_at_s, id)
      where queue = wanted.queue and type = stream.type and priority = level.priority
      limit 1
    ) as entry on true
    cross join lateral (
      select id from millrace.job
      where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
        and type = stream.type and priority = level.priority and run_at <= coalesce($1, now())
        and (run_at, id) > (coalesce(entry.run_at, '-infinity'), coalesce(entry.id, 0))
      order by run_at, id
      limit wanted.slots
      for no key update skip locked
    ) as head
    limit wanted.slots
  ) as picked
),
suspect as materialized (
  select id from millrace.job
  where queue = any($8) and status = 'pending' and crashes > 0 and tenant is null
    and run_at <= coalesce($1, now()) and type = any($4)
    and not exists (select from millrace.worker where worker.id = $7 and ended_at is not null)
    and not exists (select from millrace.rules_version where version <> $9)
  limit 1
  for no key update skip locked
)
update millrace.job
set status = 'processing', run_id = $6, worker_id = $7, attempt = attempt + 1, dedup_key = nullif(dedup_key, start_key),
    started_at = coalesce($1, now()), updated_at = coalesce($1, now()),
    deadline_at = coalesce($1, now()) + ($5::float8[])[array_position($4, type)] * interval '1 millisecond'
where id = any(array(select id from due union all select id from suspect))
  and status = 'pending'
returning id, type, queue, tenant, priority, payload, attempt, max_attempts, nullif(crashes, 0) as crashes, correlation_id,
  parent_job_id, created_by, nullif(cancel_requested_at is not null, false) as cancel_requested,
  date_part('epoch', run_at) as run_at_s,
  date_part('epoch', coalesce($1, now()) - coalesce(first_due_at, greatest(run_at, created_at))) as age_s,
  nullif(payload_version, 1) as payload_version, order_key, limit_key, tenant_jobs, workflow_id,
  date_part('epoch', coalesce($1, now()) - run_at) as wait_s, trace_parent;
