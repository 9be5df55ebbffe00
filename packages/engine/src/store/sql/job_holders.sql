-- Which live jobs hold these dedup keys?
-- Params:  $1 tenants text[], $2 types text[], $3 dedup_keys text[]
-- Returns: ord (position in the input, from 1) and the holder's id; no row for a key nobody holds.
-- Locks:   none
-- Index:   job_dedup_idx
select wanted.ord::int, holder.id
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as wanted (tenant, type, dedup_key, ord)
cross join lateral (
  select job.id
  from millrace.job
  where job.tenant is not distinct from wanted.tenant
    and job.type = wanted.type
    and job.dedup_key = wanted.dedup_key
) as holder;
