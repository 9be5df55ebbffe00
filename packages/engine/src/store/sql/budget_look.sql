-- Where budgets stand. What is declared in the table counts; what is passed stands in for what is not declared yet.
-- Params:  $1 now timestamptz or null, $2 names text[], $3 pers text[], $4 time_zones text[], $5 limits bigint[],
--          $6 period text, or null for the one that now is in
-- Returns: one row per name, in the order given.
-- Locks:   none. For an exact answer the period's row must be locked before, by another statement.
-- Index:   budget_pkey, budget_period_pkey, budget_reservation_for_look_idx, budget_notice_untold_idx, job_pkey
-- The status is asked for job by job: a join might read every running one.
-- A local midnight that a clock change skips is the first moment after it.
with wanted as (
  select ord, wanted.name, coalesce(budget.per, wanted.per) as per, coalesce(budget.time_zone, wanted.time_zone) as zone,
    coalesce(budget.declared_limit, wanted.declared_limit) as declared_limit, budget.limit_override,
    reading_period, reading_spent, reading_limit, reading_at, coalesce($1, now()) as at
  from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) with ordinality
    as wanted (name, per, time_zone, declared_limit, ord)
  left join millrace.budget on budget.name = wanted.name
),
local as (
  select *, at at time zone zone as local_at,
    case when $6::text is null then date_trunc(per, at at time zone zone)
      else (case per when 'day' then $6 else $6 || '-01' end)::timestamp end as starts
  from wanted
),
timed as (
  select *, to_char(starts, case per when 'day' then 'YYYY-MM-DD' else 'YYYY-MM' end) as period
  from local
)
select timed.name, timed.per, zone as time_zone, timed.period, at, starts at time zone zone as starts_at,
  (starts + ('1 ' || per)::interval) at time zone zone as ends_at,
  at + interval '1 hour' - (local_at - date_trunc('hour', local_at)) as next_hour_at,
  declared_limit, timed.limit_override, budget_period.limit_override as period_limit,
  coalesce(spent, 0) as spent, coalesce(notified, 0) as notified,
  exists (
    select from millrace.budget_notice as notice
    where notice.budget = timed.name and told_at is null and (taken_until is null or taken_until <= clock_timestamp())
  ) as is_untold,
  case when reading_period = timed.period then reading_spent end as reading_spent, reading_limit,
  case when reading_period = timed.period then reading_at end as reading_at,
  (select coalesce(sum(amount), 0)::bigint
   from millrace.budget_reservation as reservation
   where reservation.budget = timed.name and reservation.period = timed.period and spent_at is null
     and (select status from millrace.job where id = job_id and job.run_id = reservation.run_id) = 'processing') as reserved
from timed
left join millrace.budget_period on budget_period.budget = timed.name and budget_period.period = timed.period
order by ord;
