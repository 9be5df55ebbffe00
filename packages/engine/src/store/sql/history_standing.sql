-- Is history kept where it should be, and nowhere else?
-- Params:  $1 types text[] that want it
-- Returns: is_declared: each of those types has a setting; is_wanted: some type is on; is_kept: all triggers exist; is_left: any.
-- Locks:   none
-- Index:   history_setting_pkey, catalogues
select
  not exists (
    select from unnest($1::text[]) as wanted (type)
    where not exists (select from millrace.history_setting where history_setting.type = wanted.type)
  ) as is_declared,
  exists (select from millrace.history_setting where is_on) as is_wanted,
  count(*) = 3 as is_kept,
  count(*) > 0 as is_left
from pg_trigger
where tgrelid in ('millrace.job'::regclass, 'millrace.job_archive'::regclass)
  and tgname in ('job_event_enqueued', 'job_event_changed', 'job_event_ended');
