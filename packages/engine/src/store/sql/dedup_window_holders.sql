-- Which jobs, live or ended, stand for these dedup keys because their window is not over?
-- Params:  $1 now timestamptz or null, $2 tenants text[], $3 types text[], $4 dedup_keys text[]
-- Returns: ord (position in the input, from 1) and the id of the job; no row for a key without an open window.
-- Locks:   none
-- Index:   dedup_window_idx
select wanted.ord::int, past.job_id as id
from unnest($2::text[], $3::text[], $4::text[]) with ordinality as wanted (tenant, type, dedup_key, ord)
join millrace.dedup_window as past
  on past.type = wanted.type
  and past.dedup_key = wanted.dedup_key
  and past.tenant is not distinct from wanted.tenant
where past.expires_at > coalesce($1, now());
