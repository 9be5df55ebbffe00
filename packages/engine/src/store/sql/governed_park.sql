-- Park waiting jobs of tenants that may not run now: they leave the walk of governed claims. Under the queue's lock.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 tenants text[], $4 types text[] of each, null: all, $5 untils float8[] of each in
--          seconds, infinite: until a claim finds that it may run, $6 few int[] of each: with more jobs they stay; null:
--          all are parked, however many, $7 limit int
-- Returns: id of what was parked.
-- Locks:   those job rows, skipping what others hold.
-- Index:   job_for_share_idx, job_pkey
-- Of a tenant that is held back for a moment only, more than a few jobs stay: to pass over a stream costs one probe, to rewrite it more.
-- Of the others a hundred are parked at a time.
-- A job with an order or limit key stays, too: it would lose its place.
with held as materialized (
  select stream.id, held.until_s
  from unnest($3::text[], $4::text[], $5::float8[], $6::int[]) as held (tenant, type, until_s, few)
  cross join lateral (
    select id, type, count(*) over () as jobs, order_key is not null or limit_key is not null as is_keyed
    from (
      select id, type, order_key, limit_key from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null and tenant = held.tenant
      order by priority, run_at, id
      limit coalesce(held.few, 100) + 1
    ) as first
  ) as stream
  where (held.few is null or stream.jobs <= held.few)
    and (held.type is null or held.type = stream.type)
    and not stream.is_keyed
  limit $7
),
free as materialized (
  select id from millrace.job
  where id = any(array(select id from held)) and status = 'pending'
  for no key update skip locked
)
update millrace.job
set status = 'blocked', updated_at = coalesce($1, now()),
    parked_until = (select to_timestamp(until_s) from held where held.id = job.id limit 1)
where id = any(array(select id from free))
  and status = 'pending'
returning id;
