-- Forget what was spent in periods that are long past, by whom, and the thresholds that it reached.
-- Params:  $1 now timestamptz or null, $2 months int, $3 limit int: how many periods
-- Returns: one row for each period forgotten.
-- Locks:   those rows of periods, of their usage and notices, skipping periods that somebody holds
-- Index:   budget_period_pkey, budget_usage_budget_period_type_created_by_key, budget_notice_for_prune_idx
-- By the period's name, not by when it was last written: '2025-10' and '2025-10-31' sort as they follow each other. A
-- period with a limit of its own that lies ahead is thus kept. A day more than the months, because a budget's time zone is its own.
with old as materialized (
  select budget, period
  from millrace.budget_period
  where period < to_char(
      coalesce($1, now()) at time zone 'utc' - $2::int * interval '1 month' - interval '1 day',
      case when length(period) = 7 then 'YYYY-MM' else 'YYYY-MM-DD' end)
  limit $3
  for update skip locked
),
usage_forgotten as (
  delete from millrace.budget_usage
  using old
  where budget_usage.budget = old.budget
    and budget_usage.period = old.period
),
notices_forgotten as (
  delete from millrace.budget_notice
  using old
  where budget_notice.budget = old.budget
    and budget_notice.period = old.period
)
delete from millrace.budget_period
using old
where budget_period.budget = old.budget
  and budget_period.period = old.period
returning budget_period.period;
