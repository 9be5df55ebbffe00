-- Set a limit at run time, above what the code declares; null leaves that part to the code.
-- Params:  $1 name text, $2 running int, $3 rate_jobs int, $4 rate_ms bigint, $5 actor text
-- Returns: nothing.
-- Locks:   its row.
insert into millrace.limit_setting (name, running, rate_jobs, rate_ms, updated_by)
values ($1, $2, $3, $4, $5)
on conflict (name) do update
set running = excluded.running, rate_jobs = excluded.rate_jobs, rate_ms = excluded.rate_ms, updated_at = now(),
    updated_by = excluded.updated_by;
