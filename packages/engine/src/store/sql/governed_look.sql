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
-- Of each stream only what is due is read: neither the backlog of one tenant nor what is due later. What the walk over the streams has
-- passed, dead entries of what was claimed, is not passed again: a stream's jobs are read from its first one on.
with recursive
-- part: governed_streams
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
