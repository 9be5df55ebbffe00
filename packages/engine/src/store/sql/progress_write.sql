-- Store how far runs are, of all runs of a process in one statement.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 run_ids uuid[], $4 done float8[], $5 totals float8[], $6 notes text[]
-- Returns: job_id of those whose fence held.
-- Locks:   those rows of job_progress, in the order of their ids; no job row.
-- Index:   job_pkey, job_progress_pkey
insert into millrace.job_progress (job_id, run_id, done, total, note, updated_at)
select job.id, job.run_id, mine.done, mine.total, mine.note, coalesce($1, now())
from unnest($2::bigint[], $3::uuid[], $4::float8[], $5::float8[], $6::text[]) as mine (id, run_id, done, total, note)
join millrace.job on job.id = mine.id and job.run_id = mine.run_id
where case job.status when 'processing' then true else false end
order by job.id
on conflict (job_id) do update
set run_id = excluded.run_id, done = excluded.done, total = excluded.total, note = excluded.note,
  updated_at = excluded.updated_at
returning job_id;
