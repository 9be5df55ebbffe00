-- Write a bulk operation. In the transaction that enqueues its job.
-- Params:  $1 now timestamptz or null, $2 action, $3 options jsonb, $4 query or null, $5 tenant or null, $6 is_dry_run, $7 rate, $8 most or null,
--          $9 expected, $10 is_capped, $11 created_by, $12 undo_of or null, $13 canary int or null
-- Returns: id, and last_id: the newest job there is.
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx, dead_letter_by_job_idx
insert into millrace.bulk_operation (
  action, options, query, tenant, is_dry_run, rate, most, expected, is_capped, last_id, is_found, created_by, created_at, undo_of,
  canary, stage
)
values (
  $2, $3, $4, $5, $6, $7, $8, $9, $10,
  greatest(
    (select max(id) from millrace.job), (select max(id) from millrace.job_archive),
    (select max(job_id) from millrace.dead_letter_jobs), 0
  ),
  $4::text is null, $11, coalesce($1, now()), $12, $13, case when $13::int is not null then 'choosing' end
)
returning id, last_id;
