-- Take out a lease under a new id. Asked again because the reply was lost, it renews.
-- Params:  $1 now timestamptz or null, $2 id uuid, $3 host, $4 pid, $5 version, $6 lanes jsonb, $7 ttl_ms float8, $8 types text[],
--          $9 schedules text[], $10 program text
-- Returns: id; no row if that id was used and its lease has ended.
-- Locks:   none
-- Index:   worker_pkey
insert into millrace.worker (id, host, pid, version, lanes, types, schedules, program, started_at, heartbeat_at, expires_at)
values ($2, $3, $4, $5, $6, $8, $9, $10, coalesce($1, now()), coalesce($1, now()),
  coalesce($1, now()) + $7::float8 * interval '1 millisecond')
on conflict (id) do update
set heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at
where worker.ended_at is null
returning id;
