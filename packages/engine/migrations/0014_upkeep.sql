-- When which repair of the tables was last begun, by whatever process. One row per task: whoever moves its time on does it.
create table millrace.upkeep (
  task       text primary key,
  started_at timestamptz not null
);
