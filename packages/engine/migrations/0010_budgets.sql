-- Budgets: ceilings per month or day for what jobs spend.
--
-- * All amounts are whole numbers of the budget's unit: nothing is rounded.
-- * Nothing is ever reset. A period is a key ('2026-11', '2026-11-15' in the budget's time zone), and a new period has no
--   row yet.
-- * `budget` is what the code last declared, so that every process agrees during a deployment, and what somebody set
--   since. `budget_period.limit_override` is a limit for that period alone.
-- * A reservation counts only while the run that made it is still running: a crash leaks nothing. One that was spent stays
--   until its run ends, so that a repeated spend whose first reply was lost is recognised.

create table millrace.budget (
  name           text primary key,
  per            text not null check (per in ('month', 'day')),
  unit           text not null,
  time_zone      text not null,
  declared_limit bigint not null check (declared_limit >= 0),
  limit_override bigint check (limit_override >= 0),
  has_source     boolean not null,
  declared_at    timestamptz not null
);

create table millrace.budget_period (
  budget         text not null,
  period         text not null,
  spent          bigint not null default 0 check (spent >= 0),
  calls          bigint not null default 0,
  limit_override bigint check (limit_override >= 0),
  -- The highest threshold, in per cent, that listeners were told of.
  notified       integer not null default 0,
  updated_at     timestamptz not null,
  primary key (budget, period)
);

create table millrace.budget_reservation (
  job_id     bigint not null,
  run_id     uuid not null,
  id         uuid not null,
  budget     text not null,
  period     text not null,
  amount     bigint not null check (amount >= 0),
  created_at timestamptz not null,
  spent_at   timestamptz,
  primary key (job_id, run_id, id)
);

-- budget_look.sql: what is reserved in a period.
create index budget_reservation_for_look_idx on millrace.budget_reservation (budget, period)
  where spent_at is null;

-- What was spent by which type, and for whom.
create table millrace.budget_usage (
  budget     text not null,
  period     text not null,
  type       text not null,
  created_by text,
  amount     bigint not null,
  calls      bigint not null,
  updated_at timestamptz not null,
  unique nulls not distinct (budget, period, type, created_by)
);
