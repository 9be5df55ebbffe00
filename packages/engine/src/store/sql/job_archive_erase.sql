-- Take out of archived jobs whatever they carried; the rows stay, so that counts stay true.
-- Params:  $1 ids bigint[]
-- Returns: the ids that were not erased before.
-- Locks:   those rows
-- Index:   job_archive_by_id_idx
-- A dead job's reason is one of ours; a cancelled one's is somebody's words. A dedup key is made of the payload.
update millrace.job_archive
set payload = '{"erased": true}', result = null, logs = null, dedup_key = null,
    last_error = case when last_error is not null then '[erased]' end,
    reason = case status when 'cancelled' then 'erased' else reason end
where id = any($1::bigint[])
  and payload is distinct from '{"erased": true}'
returning id;
