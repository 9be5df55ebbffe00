-- Runs are about to end because their budget is spent: a row of the outbox for each whose queue declares an escalation.
-- Params:  $1 now timestamptz or null, $2 ids bigint[], $3 run_ids uuid[], $4 budgets text[]
-- Returns: nothing.
-- Locks:   those job rows, which the statement that ends them in the same transaction then finds as they are.
-- Index:   job_pkey, catalogue_entry_pkey
with stopped as (
  select job.id, job.queue, job.type, job.tenant, mine.budget
  from unnest($2::bigint[], $3::uuid[], $4::text[]) as mine (id, run_id, budget)
  join millrace.job on job.id = mine.id and job.run_id = mine.run_id
  where job.status = 'processing'
  order by job.id
  for update of job
)
insert into millrace.escalation (kind, key, severity, summary, queue, type, tenant, job_id, details, policy, created_at)
select 'budget_stop', left(concat_ws('/', 'budget-stop', budget, type), 255), 'warning',
  format('Budget "%s" is spent, so jobs of type %s are cancelled.', budget, type), queue, type, tenant, id,
  jsonb_build_object('budget', budget), declared.document -> 'escalation', coalesce($1, now())
from stopped
join millrace.catalogue_entry as declared on declared.kind = 'queue' and declared.name = stopped.queue
where jsonb_typeof(declared.document -> 'escalation') in ('string', 'object');
