-- The history names who cancelled a job, made it due or failed it, as it names who prioritised it. The name is set for
-- the transaction of that decision alone, so every change in it is theirs.
create or replace function millrace.job_event_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
declare
  kept   constant text[] := array(select type from millrace.history_setting where is_on);
  today  constant date := millrace.job_event_day((select updated_at from became limit 1));
  person constant text := nullif(current_setting('millrace_history.actor', true), '');
begin
  if today is null or not exists (select from became where type = any(kept)) then
    return null;
  end if;
  insert into millrace.job_event (
    day, job_id, at, event, from_status, to_status, attempt, run_id, worker_id, due_at, actor, detail
  )
  select
    today, id, at, event, from_status, to_status, attempt, run_id, worker_id, due_at,
    case event when 'replaced' then created_by else person end,
    case when event in ('prioritised', 'boosted') then priorities when is_cancel_asked then cancel_reason end
  from (
    select
      became.id, became.updated_at as at, was.status as from_status, became.status as to_status,
      case was.status when 'processing' then was.attempt else became.attempt end as attempt,
      case when 'processing' in (was.status, became.status) then coalesce(became.run_id, was.run_id) end as run_id,
      case when 'processing' in (was.status, became.status) then became.worker_id end as worker_id,
      case when became.status <> 'processing' then became.run_at end as due_at,
      became.created_by, became.cancel_reason, was.priority || ' to ' || became.priority as priorities,
      became.cancel_requested_at is not null and was.cancel_requested_at is null as is_cancel_asked,
      case
        when was.status <> became.status then case
          when became.status = 'processing' then 'claimed'
          when was.status = 'blocked' then 'admitted'
          when was.status = 'pending' then 'blocked'
          when became.crashes > was.crashes then 'rescued'
          when became.attempt = was.attempt then 'retried'
          when became.run_at > was.run_at then 'snoozed'
          else 'given_back'
        end
        when became.cancel_requested_at is not null and was.cancel_requested_at is null then 'cancel_requested'
        when became.updated_at <> was.updated_at and became.payload <> was.payload then 'replaced'
        when became.priority <> was.priority then case when person is null then 'boosted' else 'prioritised' end
        when became.run_at < was.run_at then 'made_due'
        when became.run_at > was.run_at then 'put_off'
      end as event
    from became
    join was using (id)
    where became.type = any(kept)
  ) as change
  where event is not null
  order by id;
  return null;
end
$$;

create or replace function millrace.job_event_ended() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  kept  constant text[] := array(select type from millrace.history_setting where is_on);
  today constant date := millrace.job_event_day((select finished_at from ended limit 1));
begin
  insert into millrace.job_event (
    day, job_id, at, event, from_status, to_status, attempt, run_id, worker_id, actor, detail
  )
  select
    today, id, finished_at, status, case when started_at is not null then 'processing' end, status, attempt,
    case when started_at is not null then run_id end, case when started_at is not null then worker_id end,
    nullif(current_setting('millrace_history.actor', true), ''), reason
  from ended
  where today is not null
    and type = any(kept)
  order by id;
  return null;
end
$$;
