-- Note that a period has reached other thresholds, in the transaction in which it did.
-- Params:  $1 now timestamptz or null, $2 budget text, $3 period text, $4 highest threshold int,
--          $5 thresholds int[] of which listeners are to be told, $6 spent bigint, $7 limit bigint
-- Returns: nothing.
-- Locks:   the row of the period, which is locked already.
-- Index:   budget_period_pkey
with noted as (
  update millrace.budget_period
  set notified = $4
  where budget = $2
    and period = $3
)
insert into millrace.budget_notice (budget, period, threshold, spent, spend_limit, crossed_at)
select $2, $3, threshold, $6::bigint, $7::bigint, coalesce($1, now())
from unnest($5::integer[]) as threshold;
