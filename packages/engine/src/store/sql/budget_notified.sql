-- Note that a period has reached other thresholds, in the transaction in which it did. Queues with an escalation whose jobs
-- are charged to the budget get a row of the outbox for each; thresholds that no longer hold are resolved.
-- Params:  $1 now timestamptz or null, $2 budget text, $3 period text, $4 highest threshold int,
--          $5 thresholds int[] of which listeners are to be told, $6 spent bigint, $7 limit bigint
-- Returns: nothing.
-- Locks:   the row of the period, which is locked already; open escalations of this budget.
-- Index:   budget_period_pkey, catalogue_entry_pkey, escalation_open_idx
with noted as (
  update millrace.budget_period
  set notified = $4
  where budget = $2
    and period = $3
),
policies as (
  select distinct on (queue.document -> 'escalation') queue.name as queue, queue.document -> 'escalation' as policy
  from millrace.catalogue_entry as type
  join millrace.catalogue_entry as queue on queue.kind = 'queue' and queue.name = type.document ->> 'queue'
  where type.kind = 'type'
    and type.document ->> 'budget' = $2
    and jsonb_typeof(queue.document -> 'escalation') in ('string', 'object')
  order by queue.document -> 'escalation', queue.name
),
escalated as (
  insert into millrace.escalation (kind, key, severity, summary, queue, details, policy, created_at)
  select 'budget_threshold', left(concat_ws('/', 'budget', $2, $3, threshold), 255),
    case threshold when 75 then 'info' when 80 then 'notice' when 90 then 'warning' else 'critical' end,
    format('Budget "%s" has reached %s %% of its limit in %s.', $2, threshold, $3), queue,
    jsonb_build_object('budget', $2, 'period', $3, 'threshold', threshold, 'spent', $6::bigint, 'limit', $7::bigint),
    policy, coalesce($1, now())
  from policies
  cross join unnest($5::integer[]) as threshold
),
resolved as (
  update millrace.escalation
  set resolved_at = coalesce($1, now())
  where kind = 'budget_threshold'
    and resolved_at is null
    and details ->> 'budget' = $2
    and (details ->> 'period' <> $3 or (details ->> 'threshold')::integer > $4)
)
insert into millrace.budget_notice (budget, period, threshold, spent, spend_limit, crossed_at)
select $2, $3, threshold, $6::bigint, $7::bigint, coalesce($1, now())
from unnest($5::integer[]) as threshold;
