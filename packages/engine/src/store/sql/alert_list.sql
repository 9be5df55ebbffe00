-- Alerts of these rules, or of all, as they stand.
-- Params:  $1 names text[] or null
-- Returns: the rows, by name and subject
-- Locks:   none
-- Index:   alert_pkey
select name, subject, severity, summary, action, link, why, value, threshold, to_jsonb(queues) as queues, owner, since, fired_at, told_at,
  cleared_at, seen_at
from millrace.alert
where $1::text[] is null or name = any($1)
order by name, subject;
