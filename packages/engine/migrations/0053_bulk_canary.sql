-- A bulk operation may try a few jobs of different tenants first, and stop at the first death.
alter table millrace.bulk_operation
  -- So many jobs first. Null: no canary.
  add column canary integer check (canary > 0),
  -- choosing: canaries are chosen and redriven; waiting: until all of them have ended; passed, or skipped by a person: the rest follows.
  add column stage text check (stage in ('choosing', 'waiting', 'passed', 'skipped')),
  drop constraint bulk_operation_status_check,
  -- stopped: by a canary.
  add constraint bulk_operation_status_check check (status in ('running', 'completed', 'cancelled', 'failed', 'stopped'));

-- The jobs that go first. What became of them is in bulk_item.
create table millrace.bulk_canary (
  operation_id bigint not null references millrace.bulk_operation (id) on delete cascade,
  job_id       bigint not null,
  primary key (operation_id, job_id)
);
