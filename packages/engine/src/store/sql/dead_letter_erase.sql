-- Take out of the dead letters of these jobs whatever they carried; the letters stay.
-- Params:  $1 ids of jobs bigint[]
-- Returns: the ids of the letters that were not erased before.
-- Locks:   those rows
-- Index:   dead_letter_by_job_idx
update millrace.dead_letter_jobs
set original_job = original_job - 'cancel_reason'
      || '{"payload": {"erased": true}, "dedup_key": null, "start_key": null, "last_error": null, "order_key": null, "limit_key": null}',
    error_message = '[erased]', notes = null,
    error_details = jsonb_build_object('class', error_details->'class', 'stack', null, 'logs', null)
where job_id = any($1::bigint[])
  and original_job->'payload' is distinct from '{"erased": true}'
returning id;
