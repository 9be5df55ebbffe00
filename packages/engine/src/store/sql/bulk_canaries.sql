-- The canaries of a bulk operation, and how the jobs that replaced them are.
-- Params:  $1 id bigint
-- Returns: job_id, letter_id, tenant, outcome, reason, new_job_id; of the new job: status, attempt, error, started_at, finished_at, all null if it
--          is gone.
-- Locks:   none
-- Index:   bulk_canary_pkey, bulk_item_pkey, dead_letter_by_job_idx, job_pkey, job_archive_by_id_idx
select
  item.job_id, letter.id as letter_id, letter.tenant, item.outcome, item.reason, item.new_job_id,
  run.status, run.attempt, run.error, run.started_at, run.finished_at
from millrace.bulk_canary as canary
join millrace.bulk_item as item using (operation_id, job_id)
left join lateral (
  select id, tenant
  from millrace.dead_letter_jobs
  where job_id = item.job_id
  order by id desc
  limit 1
) as letter on true
left join lateral (
  select
    case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
    attempt, last_error as error, started_at, null::timestamptz as finished_at
  from millrace.job
  where id = item.new_job_id
  union all
  select status, attempt, last_error, started_at, finished_at
  from millrace.job_archive
  where id = item.new_job_id
  union all
  select 'dead', attempts, error_message, null, died_at
  from millrace.dead_letter_jobs
  where job_id = item.new_job_id
  limit 1
) as run on true
where canary.operation_id = $1
order by item.job_id;
