-- Take the jobs that a governed claim has chosen, and write down what it spent and how far it has looked.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 types text[] the worker can run, $4 stuck_after_ms float8[] of those,
--          $5 run_id uuid, $6 worker_id uuid, $7 queue text, $8 turn: tenant text behind which the next claim begins, or null,
--          $9 rates text[], $10 tenants text[], $11 starts jsonb[] of those, $12 limits text[] of those types, each
--          the text of an array of names, $13 durable boolean, $14 since timestamptz: no run of the queue began before, or null,
--          $15 periods float8[] of those rates, in milliseconds
-- Returns: the claimed jobs, as job_claim.sql.
-- Locks:   the claimed rows, skipping what others hold, the queue's turn, the rates.
-- Index:   job_pkey, worker_pkey, limit_rate_pkey, queue_turn_pkey
-- running_since is never later than the start of any run, also where the clock was put back.
-- The commit may be asynchronous only where nothing is spent: a limit must not forget in a crash of the server.
with lease_not_ended as materialized (
  select set_config('synchronous_commit', case when $13 then current_setting('synchronous_commit') else 'off' end, true)
  where not exists (select from millrace.worker where id = $6 and ended_at is not null)
),
turned as (
  insert into millrace.queue_turn (queue, tenant, running_since)
  select $7, coalesce($8, stored.tenant, ''),
    case when $14::timestamptz is not null or stored.running_since is not null
      then least(coalesce($14, stored.running_since), coalesce($1, now())) end
  from lease_not_ended left join millrace.queue_turn as stored on stored.queue = $7
  where $8::text is not null or $14 is not null or stored.queue is null or coalesce($1, now()) < stored.running_since
  on conflict (queue) do update set tenant = excluded.tenant, running_since = excluded.running_since
),
spent as (
  insert into millrace.limit_rate (name, tenant, starts, period_ms, updated_at)
  select name, tenant, starts, period_ms, coalesce($1, now())
  from lease_not_ended
  cross join unnest($9::text[], $10::text[], $11::jsonb[], $15::float8[]) as rate (name, tenant, starts, period_ms)
  on conflict (name, tenant) do update
  set starts = excluded.starts, period_ms = excluded.period_ms, updated_at = excluded.updated_at
),
free as materialized (
  select id from millrace.job
  where id = any($2::bigint[]) and status = 'pending' and run_at <= coalesce($1, now()) and type = any($3)
  for no key update skip locked
)
update millrace.job
set status = 'processing', run_id = $5, worker_id = $6, attempt = attempt + 1, dedup_key = nullif(dedup_key, start_key),
    limits = ($12::text[])[array_position($3, type)]::text[],
    started_at = coalesce($1, now()), updated_at = coalesce($1, now()),
    deadline_at = coalesce($1, now()) + ($4::float8[])[array_position($3, type)] * interval '1 millisecond'
from lease_not_ended
where id = any(array(select id from free))
  and status = 'pending'
returning id, type, queue, tenant, priority, payload, attempt, max_attempts, nullif(crashes, 0) as crashes, correlation_id,
  parent_job_id, created_by, nullif(cancel_requested_at is not null, false) as cancel_requested,
  date_part('epoch', run_at) as run_at_s,
  date_part('epoch', coalesce($1, now()) - coalesce(first_due_at, greatest(run_at, created_at))) as age_s,
  nullif(payload_version, 1) as payload_version, order_key, limit_key, tenant_jobs, workflow_id,
  date_part('epoch', coalesce($1, now()) - run_at) as wait_s, trace_parent;
