-- Look at the heads of a queue, tenant by tenant: what a governed claim may choose from.
-- Params:  $1 now timestamptz or null, $2 queue text, $3 types text[] the worker may run, $4 behind: tenant text after which to begin,
--          or null for the first, $5 streams int: how many (tenant, priority) to look at, $6 offer int: jobs per stream of weight 1,
--          $7 tenants text[] and $8 weights int[] that differ from 1; 0 leaves a tenant out, $9 offer int of jobs without tenant,
--          $10 offer int of jobs whose last run crashed, $11 types text[] whose payloads are wanted,
--          $12 ids bigint[] of jobs that somebody else held a moment ago,
--          $13 tenants text[], $14 priorities int[], $15 run_ats float8[] in seconds and $16 ids bigint[]: behind which jobs streams are to
--          be entered
-- Returns: nth stream (0: no tenant; -1: crashed), tenant, head_type: of its first job, whatever type that is, id, type, priority,
--          run_at_s, payload; of a stream with nothing to offer one row without id
-- Locks:   none: whoever looks holds the queue's lock, and the claim looks again at the rows it takes.
-- Index:   job_for_share_idx, job_for_claim_idx, job_suspect_idx
-- A loose walk over the streams, one probe each, and of each stream only what is due: neither the backlog of one tenant
-- nor what is due later is read. `streams` bounds the walk; the next claim goes on behind it. After the last tenant it
-- goes on with the first, until it has come round. What a probe has walked over, dead entries of what was claimed, is not walked
-- over again: a stream's jobs are read from its first one on. Streams with an entry are not probed for, as in job_claim.sql; three
-- probes look between them, because before Postgres 18 a scan up to (tenant, priority) goes on to the end of the tenant.
with recursive entry as materialized (
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
select stream.nth, stream.tenant, stream.head_type, head.id, head.type, stream.priority,
  date_part('epoch', head.run_at) as run_at_s, head.payload
from stream
left join unnest($7::text[], $8::int[]) as special (tenant, weight) using (tenant)
left join lateral (
  select id, type, run_at, case when type = any($11) then payload end as payload from millrace.job
  where queue = $2 and status = 'pending' and crashes = 0 and tenant = stream.tenant
    and priority = stream.priority and run_at <= coalesce($1, now())
    and (job.run_at, job.id) >= (stream.run_at, stream.id) and type = any($3)
    and id <> all($12::bigint[])
  order by run_at, id
  limit $6 * coalesce(special.weight, 1)
) as head on true
where stream.head_type is not null
union all
select 0, null, level.head_type, head.id, head.type, level.priority, date_part('epoch', head.run_at), head.payload
from level
left join lateral (
  select id, type, run_at, case when type = any($11) then payload end as payload from millrace.job
  where queue = $2 and status = 'pending' and crashes = 0 and tenant is null
    and priority = level.priority and run_at <= coalesce($1, now())
    and (job.run_at, job.id) >= (level.run_at, level.id) and type = any($3)
    and id <> all($12::bigint[])
  order by run_at, id
  limit $9
) as head on true
where level.head_type is not null
union all
(
  select -1, tenant, type, id, type, priority, date_part('epoch', run_at), case when type = any($11) then payload end
  from millrace.job
  where queue = $2 and status = 'pending' and crashes > 0 and run_at <= coalesce($1, now()) and type = any($3)
    and id <> all($12)
  limit $10
);
