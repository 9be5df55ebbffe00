-- Tell other processes of an event, unless one about the same subject was told just now; and forget old ones.
-- Params:  $1 event, $2 subject, $3 facts jsonb, $4 origin uuid, $5 quiet_ms: for so long a subject is not told again
-- Returns: nothing
-- Locks:   its row, and old ones that are not locked
-- Index:   notice_pkey, notice_for_list_idx
-- By the database's own clock, however a test moves its jobs' time: listeners read by age.
with old as (
  delete from millrace.notice
  where ctid = any(array(
    select ctid from millrace.notice
    where raised_at < now() - interval '1 hour'
      and (event <> $1 or subject <> $2)
    limit 100
    for update skip locked
  ))
)
insert into millrace.notice (event, subject, facts, origin, raised_at)
values ($1, $2, $3::jsonb, $4::uuid, now())
on conflict (event, subject) do update
set id = default, facts = excluded.facts, origin = excluded.origin, raised_at = excluded.raised_at
where notice.raised_at < now() - make_interval(secs => $5::float8 / 1000);
