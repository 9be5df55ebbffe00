-- Write how alerts stand. In the transaction that holds the lock of the evaluation.
-- Params:  $1 rows jsonb: an array of objects with the columns of millrace.alert
-- Returns: nothing.
-- Locks:   those alert rows.
-- Index:   alert_pkey
insert into millrace.alert (name, subject, severity, summary, action, link, why, value, threshold, queues, owner, since, fired_at, told_at, cleared_at, seen_at)
select name, subject, severity, summary, action, link, why, value, threshold, array(select jsonb_array_elements_text(queues)), owner, since, fired_at,
  told_at, cleared_at, seen_at
from jsonb_to_recordset($1::jsonb) as given (
  name text, subject text, severity text, summary text, action text, link text, why text, value double precision, threshold double precision,
  queues jsonb, owner jsonb, since timestamptz, fired_at timestamptz, told_at timestamptz, cleared_at timestamptz, seen_at timestamptz
)
on conflict (name, subject) do update
set severity = excluded.severity, summary = excluded.summary, action = excluded.action, link = excluded.link, why = excluded.why,
  value = excluded.value, threshold = excluded.threshold, queues = excluded.queues, owner = excluded.owner, since = excluded.since,
  fired_at = excluded.fired_at, told_at = excluded.told_at, cleared_at = excluded.cleared_at, seen_at = excluded.seen_at;
