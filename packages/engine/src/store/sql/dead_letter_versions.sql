-- Which versions of a program the newest dead letters of a kind failed in, and since when each version is there.
-- Params:  $1 fingerprint, $2 type, $3 tenants text[] or null: of these alone, $4 most int: letters that are looked at, the newest
-- Returns: version, letters, first_died_at, last_died_at, started_at: of the first worker of that version that is remembered; oldest first
-- Locks:   none
-- Index:   dead_letter_by_fingerprint_idx, job_attempt_by_job_idx, worker_pkey
-- Letters whose attempts or workers are forgotten are not counted.
with letters as materialized (
  select job_id, attempts, died_at
  from millrace.dead_letter_jobs
  where fingerprint = $1
    and type = $2
    and ($3::text[] is null or tenant = any($3::text[]))
  order by id desc
  limit $4
),
failed as (
  select worker.version, count(*)::int as letters, min(letters.died_at) as first_died_at, max(letters.died_at) as last_died_at
  from letters
  join millrace.job_attempt as attempt on attempt.job_id = letters.job_id and attempt.attempt = letters.attempts
  join millrace.worker on worker.id = attempt.worker_id
  group by worker.version
),
started as (
  select version, min(started_at) as started_at
  from millrace.worker
  group by version
)
select version, letters, first_died_at, last_died_at, started_at
from failed
join started using (version)
order by started_at, version;
