-- How far running jobs say they are. Apart from job, whose rows would move once a second. Deleted soon after the run has ended.
create table millrace.job_progress (
  job_id     bigint primary key,
  run_id     uuid not null,
  done       double precision not null,
  total      double precision,
  note       text,
  updated_at timestamptz not null
) with (fillfactor = 70);
