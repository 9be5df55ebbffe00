-- Take thresholds of a budget of which no listener was told: for half a minute other processes leave them alone.
-- Params:  $1 budget text
-- Returns: id, period, threshold, in the order in which they were reached.
-- Locks:   those rows, passing over ones that another process takes
-- Index:   budget_notice_untold_idx
-- By the database's own clock, however a test moves its time: another process may be at it.
with taken as (
  update millrace.budget_notice
  set taken_until = clock_timestamp() + interval '30 s'
  where id = any(array(
    select id
    from millrace.budget_notice
    where budget = $1
      and told_at is null
      and (taken_until is null or taken_until <= clock_timestamp())
    for update skip locked
  ))
  returning id, period, threshold
)
select id, period, threshold
from taken
order by id;
