-- What must not be done twice, and its result: ctx.once. A claim counts for as long as its run does; a result until it
-- expires. Without foreign keys: a record outlives its job.
create table millrace.once_key (
  tenant     text not null,   -- '' for jobs that have none
  scope      text not null,   -- the job type, unless the handler named another
  key        text not null,
  state      text not null check (state in ('running', 'done')),
  result     jsonb,
  job_id     bigint not null,
  run_id     uuid not null,
  claimed_at timestamptz not null,
  done_at    timestamptz,
  expires_at timestamptz not null,
  primary key (tenant, scope, key)
);

create index once_key_for_prune_idx on millrace.once_key (expires_at);

-- once_erase.sql: what these jobs have recorded.
create index once_key_by_job_idx on millrace.once_key (job_id);
