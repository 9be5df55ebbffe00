-- Resolve escalations of dead jobs about which it was decided: the letter was resolved or ignored or is gone, the job that took
-- its place has completed, or a later job with the same dedup key has.
-- Params:  $1 now timestamptz or null, $2 after bigint: the last id of the page before, $3 limit int
-- Returns: one row: last id of this page or null, and how many were resolved.
-- Locks:   those rows, passing over locked ones.
-- Index:   escalation_unresolved_idx, dead_letter_by_job_idx, job_archive_by_id_idx, job_archive_by_type_idx
with page as materialized (
  select id, type, tenant, job_id, dedup_key, created_at
  from millrace.escalation
  where id > $2
    and kind = 'dead_job'
    and resolved_at is null
  order by id
  limit $3
),
recovered as materialized (
  select type, tenant, dedup_key, max(finished_at) as finished_at
  from millrace.job_archive
  where type = any(array(select distinct type from page where dedup_key is not null))
    and finished_at > coalesce($1, now()) - interval '2 minutes'
    and status = 'completed'
    and dedup_key is not null
  group by type, tenant, dedup_key
),
settled as (
  select page.id
  from page
  left join millrace.dead_letter_jobs as letter on letter.job_id = page.job_id
  where letter.id is null
     or letter.status in ('resolved', 'ignored')
     or (letter.status = 'retried' and exists (
       select from millrace.job_archive as redriven
       where redriven.id = letter.redriven_job_id and redriven.status = 'completed'
     ))
     or exists (
       select from recovered
       where recovered.type = page.type
         and recovered.dedup_key = page.dedup_key
         and recovered.tenant is not distinct from page.tenant
         and recovered.finished_at > page.created_at
     )
),
resolved as (
  update millrace.escalation
  set resolved_at = coalesce($1, now())
  where id = any(array(select id from settled))
  returning id
)
select (select max(id) from page)::text as last_id, (select count(*) from page)::int as looked_at,
  (select count(*) from resolved)::int as resolved;
