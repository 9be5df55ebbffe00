-- Write a new schedule.
-- Params:  $1 now timestamptz or null, $2 name, $3 job_type, $4 source, $5 cadence jsonb, $6 timing jsonb, $7 options jsonb,
--          $8 payload jsonb or null, $9 next_at timestamptz or null, $10 author, $11 pause_reason or null
-- Returns: its name; no row if there is one of that name.
-- Locks:   its row
-- Index:   schedule_pkey
insert into millrace.schedule (name, job_type, source, cadence, timing, options, payload, next_at,
  paused_at, paused_by, pause_reason, created_at, updated_at, updated_by)
select $2::text, $3::text, $4::text, $5::jsonb, $6::jsonb, $7::jsonb, $8::jsonb, $9::timestamptz,
  case when $11::text is not null then now end, case when $11::text is not null then $10::text end, $11, now, now, $10
from (select coalesce($1::timestamptz, clock_timestamp()) as now) as clock
on conflict (name) do nothing
returning name;
