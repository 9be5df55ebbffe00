-- More about groups of dead letters: who is hit, what was decided, and how many died when.
-- Params:  $1 now timestamptz or null, $2 fingerprints text[], $3 tenants text[] or null: of these alone, $4 hours int: how far back deaths
--          are counted by the hour, $5 most int: letters of each fingerprint that are looked at, the newest
-- Returns: a row per fingerprint and type; by_hour and by_tenant as json.
-- Locks:   none
-- Index:   dead_letter_by_fingerprint_idx
with letters as materialized (
  select newest.*
  from (select distinct fingerprint from unnest($2::text[]) as fingerprint) as asked
  cross join lateral (
    select fingerprint, id, type, queue, tenant, reason, status, acknowledged, acknowledged_by, acknowledged_at, died_at,
      error_details->>'class' as error_class, notes, count(*) over () >= $5::int as is_capped
    from millrace.dead_letter_jobs
    where fingerprint = asked.fingerprint
      and ($3::text[] is null or tenant = any($3::text[]))
    order by id desc
    limit $5
  ) as newest
),
hours as (
  select fingerprint, type, jsonb_object_agg(ago, deaths) as by_hour
  from (
    select fingerprint, type, floor(extract(epoch from coalesce($1, now()) - died_at) / 3600)::int as ago, count(*)::int as deaths
    from letters
    where died_at > coalesce($1, now()) - $4::int * interval '1 hour'
      and died_at <= coalesce($1, now())
    group by 1, 2, 3
  ) as counted
  group by fingerprint, type
),
tenants as (
  select fingerprint, type, count(*)::int as tenants,
    jsonb_agg(jsonb_build_object('tenant', tenant, 'letters', letters) order by letters desc, tenant) filter (where place <= 10) as by_tenant
  from (
    select fingerprint, type, tenant, count(*)::int as letters,
      row_number() over (partition by fingerprint, type order by count(*) desc, tenant) as place
    from letters
    where status = 'pending'
    group by fingerprint, type, tenant
  ) as counted
  group by fingerprint, type
),
facts as (
  select fingerprint, type, count(*)::int as letters, bool_or(is_capped) as is_capped,
    (array_agg(queue order by id desc))[1] as queue,
    (array_agg(reason order by id desc))[1] as reason,
    (array_agg(error_class order by id desc))[1] as error_class,
    (array_agg(notes order by id desc) filter (where notes is not null))[1] as last_notes,
    count(*) filter (where status = 'pending' and acknowledged)::int as acknowledged,
    (array_agg(acknowledged_by order by acknowledged_at desc) filter (where status = 'pending' and acknowledged))[1] as acknowledged_by,
    max(acknowledged_at) filter (where status = 'pending' and acknowledged) as acknowledged_at,
    count(*) filter (where status = 'retried')::int as retried,
    count(*) filter (where status = 'resolved')::int as resolved,
    count(*) filter (where status = 'ignored')::int as ignored
  from letters
  group by fingerprint, type
)
select facts.*, coalesce(hours.by_hour, '{}') as by_hour, coalesce(tenants.tenants, 0) as tenants,
  coalesce(tenants.by_tenant, '[]') as by_tenant
from facts
left join hours using (fingerprint, type)
left join tenants using (fingerprint, type)
order by fingerprint, type;
