-- Give jobs that take the place of dead ones the steps that those had finished, in the transaction that inserts them.
-- Params:  $1 now timestamptz or null, $2 dead_ids bigint[], $3 job_ids bigint[]
-- Returns: nothing
-- Locks:   none
-- Index:   once_key_by_job_idx
insert into millrace.once_key (tenant, scope, key, state, result, job_id, run_id, claimed_at, done_at, expires_at)
select
  done.tenant, '$step:' || heir.job_id, done.key, 'done', done.result, heir.job_id, done.run_id, done.claimed_at,
  done.done_at, coalesce($1, now()) + interval '1 day'
from unnest($2::bigint[], $3::bigint[]) as heir (dead_id, job_id)
join millrace.once_key as done on done.job_id = heir.dead_id
where done.scope = '$step:' || heir.dead_id
  and done.state = 'done';
