// What the tables say of workflows when all is over.
import type { FoundFlow, FoundJob, FoundStep } from './flow-model.ts'
import type { World } from './world.ts'

const FLOWS = `
  select id::text, name, status, rolls_back as "rollsBack", input->>'n' as n from millrace.workflow order by id`
const STEPS = `
  select workflow_id::text as workflow, position, name, after, on_failure as "onFailure", can_be_undone as "canBeUndone", status
  from millrace.workflow_step order by workflow_id, position`
/** Jobs, not items: of a job that nobody knows any more, the payload says whose it was. */
const JOBS = `
  select job.id::text, job.workflow_id::text as workflow, job.payload->>'n' as n, job.created_at as "createdAt",
    job.finished_at as "finishedAt", case job.status when 'dead' then 'failed' else job.status end as ended
  from (
    select id, workflow_id, payload, created_at, finished_at, status from millrace.job_archive
    union all
    select id, workflow_id, payload, created_at, null, 'live' from millrace.job
  ) as job`

export async function foundFlows(world: World, cancelled: ReadonlySet<string>): Promise<FoundFlow[]> {
  const flows = await world.query<Omit<FoundFlow, 'steps' | 'isCancelled'>>(FLOWS)
  const steps = await world.query<Omit<FoundStep, 'done' | 'undone'> & { workflow: string }>(STEPS)
  const jobs = await world.query<FoundJob & { workflow: string }>(`${JOBS} order by job.id`)
  const jobsOf = (flow: string, step: string, kind: 'do' | 'undo') =>
    jobs.filter(({ workflow, n }) => workflow === flow && n.split('/')[1] === step && n.endsWith(`/${kind}`))
  return flows.map((flow) => ({
    ...flow,
    isCancelled: cancelled.has(flow.id),
    steps: steps
      .filter(({ workflow }) => workflow === flow.id)
      .map((step) => ({
        ...step,
        done: jobsOf(flow.id, step.name, 'do'),
        undone: jobsOf(flow.id, step.name, 'undo'),
      })),
  }))
}

/** Parts for which there is more than one job, and jobs that are of no item. */
export function doubledParts(world: World): Promise<number> {
  return world.count(`
    with job as (${JOBS})
    select n from job group by n having count(*) > 1
    union all
    select n from job where not exists (select from millrace.workflow_item where job_id = job.id::bigint)`)
}

/** What somebody would still have to do. */
export function leftOpen(world: World): Promise<number> {
  return world.count(`
    select workflow_id from millrace.workflow_step
    where needs_advance or items_left <> 0 or undo_left <> 0 or status in ('waiting', 'running') or undo = 'running'
    union all
    select workflow_id from millrace.workflow_item where status = 'running'
    union all
    select id from millrace.workflow where advance_at is not null or held is not null`)
}
