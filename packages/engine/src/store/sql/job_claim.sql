-- Take due jobs without tenant from several queues, each in its order: priority, due time, id.
-- Params:  $1 now timestamptz or null, $2 queues text[], $3 limits int[], $4 types text[] the worker can run,
--          $5 stuck_after_ms float8[] of those types, $6 run_id uuid, $7 worker_id uuid, $8 queues text[] that one suspect may come from,
--          $9 version bigint of the rules under which this queue is no governed one, or null,
--          $10 queues text[], $11 priorities int[], $12 run_ats float8[] in seconds and $13 ids bigint[]: behind which jobs
--          levels of a queue are to be entered, in the order of their priorities
-- Returns: the claimed jobs, in no order; all carry the one run_id, which the caller made up before it asked.
--          No crashes, no request to cancel and version 1 are null; with a key, its end makes room for another one. Times are
--          seconds: to print and to parse a timestamp costs more than to claim.
-- Locks:   the claimed rows; skips what others hold.
-- Index:   job_for_claim_idx, job_suspect_idx, worker_pkey: nothing is claimed under a lease that somebody has ended, and
--          nothing under rules that somebody has changed: a queue that was paused is looked at anew
-- The entries: what has been claimed leaves dead entries at the head of each level of the index, which every claim would
-- walk over until vacuum removes them; while somebody holds a transaction open it cannot. A level with an entry is one of
-- the walk, whether anything is left there or not; others are looked for between, above and below them, and what such a
-- look has walked over is not walked over again.
-- The walk over priorities keeps work that is due in the future out of the scan. Rows are locked as they are pulled,
-- so the outer limit bounds what is locked; the inner one tells the planner that few rows are wanted, without which
-- statistics from a quiet hour make it sort the whole backlog. The commit may be asynchronous: a claim lost in a crash
-- only runs again.
with due as materialized (
  select picked.id
  from (
    select set_config('synchronous_commit', 'off', true)
    where not exists (select from millrace.worker where id = $7 and ended_at is not null)
      and not exists (select from millrace.rules_version where version <> $9)
  ) as lease_not_ended
  cross join unnest($2::text[], $3::int[]) as wanted (queue, slots)
  cross join lateral (
    with recursive level (priority, run_at, id) as (
      select -1, '-infinity'::timestamptz, 0::bigint
      union all
      select next.priority, next.run_at, next.id
      from level
      left join lateral (
        select priority, to_timestamp(run_at_s) as run_at, id + 1 as id
        from unnest($10::text[], $11::int[], $12::float8[], $13::bigint[]) as given (queue, priority, run_at_s, id)
        where queue = wanted.queue and priority > level.priority
        limit 1
      ) as entry on true
      cross join lateral (
        (select priority, run_at, id from millrace.job
         where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
           and priority > level.priority and priority < entry.priority
         order by priority, run_at, id limit 1)
        union all
        (select entry.priority, entry.run_at, entry.id where entry.priority is not null)
        union all
        (select priority, run_at, id from millrace.job
         where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
           and priority > level.priority and entry.priority is null
         order by priority, run_at, id limit 1)
        limit 1
      ) as next
    )
    select head.id
    from level
    cross join lateral (
      select id from millrace.job
      where queue = wanted.queue and status = 'pending' and crashes = 0 and tenant is null
        and priority = level.priority and run_at <= coalesce($1, now()) and type = any($4)
        and (run_at, id) >= (level.run_at, level.id)
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
