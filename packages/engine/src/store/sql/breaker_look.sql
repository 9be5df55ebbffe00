-- How the breakers of these services stand, or of all. A service without a row is closed.
-- Params:  $1 now timestamptz or null, $2 service names text[] or null, $3 call_probe_ms float8, for which a probe counts that is no job
-- Returns: the rows by name; is_probe_live: the run that is noted as probe still runs; probe_in_ms: until the next one may
--          run, 0 or less: it may now; null: none will, unless somebody resets it.
-- Locks:   none
-- Index:   circuit_breakers_pkey, job_pkey
select service_name, state, failure_count, success_count, last_failure_at, opened_at, open_until, half_opened_at,
  probe_job_id, probe_run_id, failures, open_for_ms, successes, updated_at,
  case
    when probe_job_id is null then
      probe_run_id is not null and updated_at > coalesce($1, now()) - $3::float8 * interval '1 millisecond'
    else exists (
      select from millrace.job
      where job.id = probe_job_id and job.run_id = probe_run_id and job.status = 'processing'
    )
  end as is_probe_live,
  (extract(epoch from open_until - coalesce($1, now())) * 1000)::float8 as probe_in_ms
from millrace.circuit_breakers
where $2::text[] is null or service_name = any($2)
order by service_name;
