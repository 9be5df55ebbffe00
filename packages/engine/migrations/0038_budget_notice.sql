-- Thresholds that budgets have reached: written in the transaction that reaches them, so that none is lost if the process
-- dies before it tells its listeners. A process takes the row for a while, tells them, and notes that it did.
create table millrace.budget_notice (
  id          bigint generated always as identity primary key,
  budget      text not null,
  period      text not null,
  -- Per cent of the limit.
  threshold   integer not null,
  spent       bigint not null,
  spend_limit bigint not null,
  crossed_at  timestamptz not null,
  taken_until timestamptz,
  told_at     timestamptz
);

-- budget_look.sql, budget_notice_take.sql
create index budget_notice_untold_idx on millrace.budget_notice (budget) where told_at is null;

-- budget_period_prune.sql
create index budget_notice_for_prune_idx on millrace.budget_notice (budget, period);
