-- Which live jobs hold these dedup keys?
-- Params:  $1 tenants text[], $2 types text[], $3 dedup_keys text[]
-- Returns: ord (position in the input, from 1) and the holder's id; no row for a key nobody holds.
-- Locks:   none
-- Index:   job_dedup_idx; with and without a tenant apart, because no index is searched for `is not distinct from`.
select wanted.ord::int, holder.id
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as wanted (tenant, type, dedup_key, ord)
cross join lateral (
  select id from millrace.job
  where tenant = wanted.tenant and type = wanted.type and dedup_key = wanted.dedup_key
  union all
  select id from millrace.job
  where tenant is null and wanted.tenant is null and type = wanted.type and dedup_key = wanted.dedup_key
) as holder;
