-- Take out a lease under a new id. Asked again because the reply was lost, it renews. A worker that lost its lease keeps what was
-- asked of it.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 host, $4 pid, $5 version, $6 lanes jsonb, $7 ttl_ms float8, $8 types text[],
--          $9 schedules text[], $10 program text, $11 report jsonb or null,
--          $12 former_id uuid: the id under which it worked before, or null
-- Returns: id, request, by and reason of the request; no row if that id was used and its lease has ended.
-- Locks:   none
-- Index:   worker_pkey
insert into millrace.worker (
  id, host, pid, version, lanes, types, schedules, program, report, started_at, heartbeat_at, expires_at,
  request, requested_by, request_reason, requested_at
)
select $2, $3, $4, $5, $6::jsonb, $8::text[], $9::text[], $10, $11::jsonb, coalesce($1, now()), coalesce($1, now()),
  coalesce($1, now()) + $7::float8 * interval '1 millisecond',
  former.request, former.requested_by, former.request_reason, former.requested_at
from (select) as one
left join millrace.worker as former on former.id = $12
on conflict (id) do update
set heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at
where worker.ended_at is null
returning id, request, requested_by as by, request_reason as reason;
