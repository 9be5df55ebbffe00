-- What a worker says about itself with each heartbeat, and what an operator asks of it. The worker reads that with its heartbeat.
alter table millrace.worker
  add column report jsonb,
  add column request text check (request in ('quiet', 'stop')),
  add column requested_by text,
  add column request_reason text,
  add column requested_at timestamptz,
  add constraint worker_request_is_whole check (num_nulls(request, requested_by, request_reason, requested_at) in (0, 4));

-- Each heartbeat writes a new version of the row: leave room for it on the same page.
alter table millrace.worker set (fillfactor = 50);
