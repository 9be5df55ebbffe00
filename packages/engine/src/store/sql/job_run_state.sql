-- What became of these runs? Asked when the reply to a settlement was lost.
-- Params:  $1 ids bigint[], $2 run_ids uuid[]
-- Returns: id, run_id, state: 'running' (still ours, nothing was written), 'settled' (our write is there). No row: another
--          run has taken over, or the job is gone without a trace of ours.
-- Locks:   none
-- Index:   job_pkey, job_archive_by_id_idx. `offset 0` has them probed id by id: a planner that believes the tables to be
--          small would walk over all of them to join.
select mine.id, mine.run_id, case job.status when 'processing' then 'running' else 'settled' end as state
from unnest($1::bigint[], $2::uuid[]) as mine (id, run_id)
cross join lateral (
  select status from millrace.job
  where job.id = mine.id and job.run_id = mine.run_id
  offset 0
) as job
union all
select mine.id, mine.run_id, 'settled'
from unnest($1::bigint[], $2::uuid[]) as mine (id, run_id)
cross join lateral (
  select from millrace.job_archive as archive
  where archive.id = mine.id and archive.run_id = mine.run_id
  offset 0
) as archive;
