-- What a bulk operation must know of jobs, wherever they are.
-- Params:  $1 now timestamptz or null, $2 ids bigint[]
-- Returns: id, type, status, priority, is_due, is_step, is_archived, letter_id, letter_status, redriven_job_id; no row for jobs that are gone.
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx, dead_letter_by_job_idx
select
  id, type, case when status = 'pending' and last_error_at is not null then 'failed' else status end as status,
  priority, status = 'pending' and run_at <= coalesce($1, now()) as is_due, workflow_id is not null as is_step,
  false as is_archived, null::bigint as letter_id, null as letter_status, null::bigint as redriven_job_id
from millrace.job
where id = any($2::bigint[])
union all
select
  archived.id, archived.type, archived.status, archived.priority, false, archived.workflow_id is not null, true, letter.id, letter.status,
  letter.redriven_job_id
from millrace.job_archive as archived
left join millrace.dead_letter_jobs as letter on letter.job_id = archived.id and archived.status = 'dead'
where archived.id = any($2::bigint[])
union all
select letter.job_id, letter.type, 'dead', 0, false, letter.workflow_id is not null, false, letter.id, letter.status, letter.redriven_job_id
from millrace.dead_letter_jobs as letter
where letter.job_id = any($2::bigint[])
  and not exists (select from millrace.job_archive as archived where archived.id = letter.job_id);
