-- The streams of a queue, tenant by tenant from $4 on, and the levels of its jobs without tenant: of each where its first job is.
-- Params:  of governed_look.sql: $2 queue, $4 behind, $5 streams, $9 offer of jobs without tenant, $13 to $16 entries
-- Index:   job_for_share_idx, job_for_claim_idx
-- A loose walk, one probe each. `streams` bounds it; the next claim goes on behind it. After the last tenant it goes on with the first,
-- until it has come round. Streams with an entry are not probed for, as in job_claim.sql; three probes look between them, because
-- before Postgres 18 a scan up to (tenant, priority) goes on to the end of the tenant.
entry as materialized (
  select tenant, priority, to_timestamp(run_at_s) as run_at, id
  from unnest($13::text[], $14::int[], $15::float8[], $16::bigint[]) as given (tenant, priority, run_at_s, id)
  order by tenant, priority
),
stream (tenant, priority, head_type, run_at, id, nth, is_round) as (
  select coalesce($4, ''), case when $4::text is null then -1 else 2147483647 end, null, null::timestamptz, null::bigint, 0,
    $4::text is null
  union all
  select next.tenant, next.priority, next.type, next.run_at, next.id, stream.nth + (next.type is not null)::int, next.is_round
  from stream
  left join lateral (
    select * from entry where (entry.tenant, entry.priority) > (stream.tenant, stream.priority) limit 1
  ) as ahead on true
  cross join lateral (
    (
      select tenant, priority, type, run_at, id, stream.is_round from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null
        and tenant = stream.tenant and priority > stream.priority and ahead.tenant is not null
        and priority < case when ahead.tenant = stream.tenant then ahead.priority::bigint else 2147483648 end
      order by tenant, priority, run_at, id
      limit 1
    )
    union all
    (
      select tenant, priority, type, run_at, id, stream.is_round from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null
        and tenant > stream.tenant and tenant < ahead.tenant
      order by tenant, priority, run_at, id
      limit 1
    )
    union all
    (
      select tenant, priority, type, run_at, id, stream.is_round from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null
        and tenant = ahead.tenant and priority < ahead.priority and ahead.tenant <> stream.tenant
      order by tenant, priority, run_at, id
      limit 1
    )
    union all
    (
      select ahead.tenant, ahead.priority, first.type, first.run_at, first.id, stream.is_round
      from (select) as once
      left join lateral (
        select type, run_at, id from millrace.job
        where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null
          and tenant = ahead.tenant and priority = ahead.priority and (run_at, id) > (ahead.run_at, ahead.id)
        order by run_at, id
        limit 1
      ) as first on true
      where ahead.tenant is not null
    )
    union all
    (
      select tenant, priority, type, run_at, id, stream.is_round from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is not null
        and (tenant, priority) > (stream.tenant, stream.priority) and ahead.tenant is null
      order by tenant, priority, run_at, id
      limit 1
    )
    union all
    (select '', -1, null, null, null, true where not stream.is_round)
    limit 1
  ) as next
  where stream.nth < $5
    and (not next.is_round or $4::text is null or next.tenant <= $4)
),
level (priority, head_type, run_at, id) as (
  select -1, null, null::timestamptz, null::bigint
  union all
  select next.priority, next.type, next.run_at, next.id
  from level
  left join lateral (
    select * from entry where tenant is null and priority > level.priority limit 1
  ) as ahead on true
  cross join lateral (
    (
      select priority, type, run_at, id from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is null
        and priority > level.priority and priority < ahead.priority
      order by priority, run_at, id
      limit 1
    )
    union all
    (
      select ahead.priority, first.type, first.run_at, first.id
      from (select) as once
      left join lateral (
        select type, run_at, id from millrace.job
        where queue = $2 and status = 'pending' and crashes = 0 and tenant is null
          and priority = ahead.priority and (run_at, id) > (ahead.run_at, ahead.id)
        order by run_at, id
        limit 1
      ) as first on true
      where ahead.priority is not null
    )
    union all
    (
      select priority, type, run_at, id from millrace.job
      where queue = $2 and status = 'pending' and crashes = 0 and tenant is null
        and priority > level.priority and ahead.priority is null
      order by priority, run_at, id
      limit 1
    )
    limit 1
  ) as next
  where $9 > 0
)
