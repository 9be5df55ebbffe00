-- Dead letters that were born and decided about, by hour or day.
-- Params:  $1 from timestamptz, $2 hours_to timestamptz: from there on the letters themselves are counted, $3 to timestamptz;
--          $4 step text: hour or day; $5 queue text or null, $6 type text or null
-- Returns: at, born, decided; in order of time
-- Locks:   none
-- Index:   metric_letter_hour_pkey, dead_letter_by_death_idx, dead_letter_by_decision_idx
select date_trunc($4::text, at, 'UTC') as at, sum(born)::int as born, sum(decided)::int as decided
from (
  select hour as at, queue, type, born, decided
  from millrace.metric_letter_hour where hour >= $1::timestamptz and hour < $2::timestamptz
  union all
  select died_at, queue, type, 1, 0
  from millrace.dead_letter_jobs where died_at >= $2::timestamptz and died_at < $3::timestamptz
  union all
  select acknowledged_at, queue, type, 0, 1
  from millrace.dead_letter_jobs where status <> 'pending' and acknowledged_at >= $2::timestamptz and acknowledged_at < $3::timestamptz
) as counted
where ($5::text is null or queue = $5)
  and ($6::text is null or type = $6)
group by 1
order by 1;
