-- Letters whose contract lets them be redriven by themselves, and whose time has come. Oldest first. Not those of a
-- workflow's jobs: it is resumed by a person.
-- Params:  $1 now timestamptz or null; by position one rule per type and reason: $2 types, $3 reasons,
--          $4 at_mosts int[]: redrives allowed, $5 afters_ms float8[]: how long a letter waits; $6 limit int
-- Returns: the ids.
-- Locks:   none: dead_letter_lock.sql decides.
-- Index:   dead_letter_for_redrive_idx, one range for each rule and number of redrives so far
select due.id
from unnest($2::text[], $3::text[], $4::int[], $5::float8[]) as rule (type, reason, at_most, after_ms)
cross join lateral generate_series(0, rule.at_most - 1) as so_far (redrives)
cross join lateral (
  select letter.id, letter.redrive_since
  from millrace.dead_letter_jobs as letter
  where letter.status = 'pending'
    and not letter.acknowledged
    and letter.workflow_id is null
    and letter.type = rule.type
    and letter.reason = rule.reason
    and letter.redrives = so_far.redrives
    and letter.redrive_since <= coalesce($1, now()) - rule.after_ms * interval '1 millisecond'
  order by letter.redrive_since, letter.id
  limit $6
) as due
order by due.redrive_since, due.id
limit $6;
