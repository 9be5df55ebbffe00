// Writes the jobs of steps that start together: those of one contract by the same statements, however many steps they
// are of.
import type { Clock } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import { isPermissionDenied, isRefused } from '../sql-state.ts'
import type { Session } from '../store/db.ts'
import { deadLetterReplaced } from '../store/dead-letters.ts'
import type { NewJob } from '../store/jobs.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { stepInherit } from '../store/once-keys.ts'
import { type ItemKind, type NewItem, workflowItemWrite } from '../store/workflow-items.ts'
import type { StepRow } from '../store/workflows.ts'
import type { StepJob } from './step-jobs.ts'

export interface InsertServices {
  clock: Clock
  insertSteps(
    session: Session,
    contract: JobContract,
    given: { jobs: readonly NewJob[]; tells: boolean; needsIds: boolean },
  ): Promise<{ ids: readonly (string | null)[]; keys: WorkKey[] }>
}

/** A step and the jobs that it starts with, or that undo it. */
export interface Started {
  step: StepRow
  contract: JobContract
  jobs: readonly StepJob[]
}

export interface InsertPlan {
  workflowId: string
  kind: ItemKind
  tells: boolean
  /** Who let failed jobs be replaced. */
  by: string
  /** Each step by statements of its own: so it is known which one Postgres refuses. */
  isSingly: boolean
}

/** Postgres will not store the jobs of this step, or of another one that was written with it, unless singly. */
export class StartRefused extends Error {
  readonly step: string

  constructor(step: string, cause: unknown) {
    super(`Postgres refuses to store its jobs (${(cause as Error).message})`, { cause })
    this.step = step
  }
}

export interface Retrial {
  /** Steps that Postgres refused to start, and why. */
  refused: ReadonlyMap<string, string>
  /** Each step is written by statements of its own. */
  isSingly: boolean
}

/** Does it again without each step that Postgres refuses to start: that one then fails instead of all of them. */
export async function withoutRefused<Result>(work: (how: Retrial) => Promise<Result>): Promise<Result> {
  const refused = new Map<string, string>()
  let isSingly = false
  for (;;) {
    try {
      return await work({ refused, isSingly })
    } catch (error) {
      const isStart = error instanceof StartRefused
      // Whose it was is known only when each is awaited; and a role may insert jobs, and not read what their last id is.
      if (!isSingly && (isStart || isRefused(error) || isPermissionDenied(error))) {
        isSingly = true
        continue
      }
      if (!isStart || refused.has(error.step)) throw error
      refused.set(error.step, error.message)
    }
  }
}

/** Returns the keys to be admitted. */
export async function insertStarted(
  session: Session,
  services: InsertServices,
  plan: InsertPlan,
  started: readonly Started[],
): Promise<WorkKey[]> {
  const withJobs = started.filter(({ jobs }) => jobs.length > 0)
  const groups = plan.isSingly ? withJobs.map((each) => [each]) : byContract(withJobs)
  const keys: WorkKey[] = []
  for (const group of groups) {
    try {
      keys.push(...(await insertGroup(session, services, plan, group)))
    } catch (error) {
      throw isRefused(error) ? new StartRefused((group[0] as Started).step.name, error) : error
    }
  }
  return keys
}

function byContract(started: readonly Started[]): Started[][] {
  const groups = new Map<JobContract, Started[]>()
  for (const each of started) {
    const group = groups.get(each.contract)
    if (group === undefined) groups.set(each.contract, [each])
    else group.push(each)
  }
  return [...groups.values()]
}

async function insertGroup(
  session: Session,
  { clock, insertSteps }: InsertServices,
  { workflowId, kind, tells, by, isSingly }: InsertPlan,
  group: readonly Started[],
): Promise<WorkKey[]> {
  const { contract } = group[0] as Started
  const all = group.flatMap(({ step, jobs }) => jobs.map((each) => ({ step, ...each })))
  // In somebody else's transaction others may insert in between.
  const needsIds = tells || isSingly || all.length > 1 || all.some(({ replaces }) => replaces !== null)
  const { ids, keys } = await insertSteps(session, contract, { jobs: all.map(({ job }) => job), tells, needsIds })
  const items = all.map(({ step, item, job }, i): NewItem => {
    const isKept = kind === 'do' && step.canBeUndone
    const payloadVersion = isKept ? contract.version : null
    return { position: step.position, item, jobId: ids[i] ?? null, payload: job.payload, payloadVersion }
  })
  await workflowItemWrite(session, { workflowId, kind }, items)
  const heirs = all.flatMap(({ replaces }, i) =>
    replaces === null ? [] : { deadJobId: replaces, jobId: ids[i] as string },
  )
  const now = clock.databaseNow()
  await deadLetterReplaced(session, now, heirs, by)
  await stepInherit(session, now, heirs)
  return keys
}
