-- Close the windows that these jobs hold: their keys are made of what the jobs carried.
-- Params:  $1 ids of jobs bigint[]
-- Returns: nothing
-- Locks:   those rows
-- Index:   job_archive_by_id_idx, dedup_window_idx. Before the archive forgets the keys; what was never archived expires.
delete from millrace.dedup_window as past
using millrace.job_archive as ended
where ended.id = any($1::bigint[])
  and past.type = ended.type
  and past.dedup_key = ended.dedup_key
  and past.tenant is not distinct from ended.tenant
  and past.job_id = ended.id;
