-- Take dedup keys away from jobs that have started, and ask for their end: newer ones are about to be enqueued under them.
-- Params:  $1 now timestamptz or null, $2 tenants text[], $3 types text[], $4 dedup_keys text[],
--          $5 lock_timeout_ms: how long a row that somebody is writing is waited for
-- Returns: worker_id of those that are running; null of those that wait for another attempt, which end when claimed.
-- Locks:   those job rows, in the order of their ids, as settlements do.
-- Index:   job_dedup_idx, then job_pkey
with holder as materialized (
  select job.id
  from (select set_config('lock_timeout', $5::text, true) where $5::text is not null) as patience
  right join unnest($2::text[], $3::text[], $4::text[]) as wanted (tenant, type, dedup_key) on true
  cross join lateral (
    select id from millrace.job
    where tenant = wanted.tenant and type = wanted.type and dedup_key = wanted.dedup_key and started_at is not null
    union all
    select id from millrace.job
    where tenant is null and wanted.tenant is null
      and type = wanted.type and dedup_key = wanted.dedup_key and started_at is not null
  ) as job
),
locked as materialized (
  select id
  from millrace.job
  where id = any(array(select id from holder))
    and dedup_key is not null
  order by id
  for no key update
)
update millrace.job
set dedup_key = null, start_key = dedup_key,
    cancel_requested_at = coalesce(cancel_requested_at, $1, now()), cancel_reason = coalesce(cancel_reason, 'superseded'),
    run_at = least(run_at, coalesce($1, now())), updated_at = coalesce($1, now())
where id = any(array(select id from locked))
returning case status when 'processing' then worker_id end as worker_id;
