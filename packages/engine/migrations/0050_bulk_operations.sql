-- Bulk operations: one change to many jobs, tracked. A job of type millrace.bulk works on them, in batches.
create table millrace.bulk_operation (
  id            bigint generated always as identity primary key,
  action        text not null,
  -- Of the action, such as the priority.
  options       jsonb not null,
  -- Null: the jobs were named by id, and are all in bulk_item.
  query         text,
  -- Only jobs of this tenant. Null: of all.
  tenant        text,
  status        text not null default 'running' check (status in ('running', 'completed', 'cancelled', 'failed')),
  -- Nothing is changed: the items say what would be.
  is_dry_run    boolean not null,
  -- So many jobs per second at most.
  rate          integer not null check (rate > 0),
  -- So many jobs at most. Null: all.
  most          integer check (most > 0),
  -- How many jobs fitted when it was started; with is_capped there were more.
  expected      integer not null,
  is_capped     boolean not null,
  -- Jobs that were enqueued later are not concerned.
  last_id       bigint not null,
  -- The search has come so far; with is_found there is no more to find.
  cursor        bigint not null default 0,
  is_found      boolean not null,
  job_id        bigint,
  undo_of       bigint,
  undone_by     bigint,
  created_by    text not null,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  cancelled_by  text,
  error         text
);

-- bulk_prune.sql
create index bulk_operation_for_prune_idx on millrace.bulk_operation (finished_at) where finished_at is not null;

create table millrace.bulk_item (
  operation_id bigint not null references millrace.bulk_operation (id) on delete cascade,
  job_id       bigint not null,
  -- changed, already or refused. Null: its turn has not come.
  outcome      text check (outcome in ('changed', 'already', 'refused')),
  reason       text,
  -- The priority that it had, for the undo.
  before       integer,
  -- Of a redrive: the new job.
  new_job_id   bigint,
  primary key (operation_id, job_id)
) with (fillfactor = 80);

-- bulk_next.sql
create index bulk_item_open_idx on millrace.bulk_item (operation_id, job_id) where outcome is null;
