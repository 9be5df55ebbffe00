// One advance of one workflow: what has ended is taken note of, decided is what follows, and all of it is written, in one
// transaction under the workflow's lock. So no step starts twice, whoever advances, and however many do at once.
import type { Clock } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import { isRefused } from '../sql-state.ts'
import type { Session } from '../store/db.ts'
import { deadLetterReplaced } from '../store/dead-letters.ts'
import type { NewJob } from '../store/jobs.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { stepInherit } from '../store/once-keys.ts'
import { workflowItemList, workflowItemReason, workflowItemWrite } from '../store/workflow-items.ts'
import {
  type LockedWorkflow,
  type StepRow,
  workflowLock,
  workflowStepRows,
  workflowStepWrite,
  workflowWrite,
} from '../store/workflows.ts'
import { decide, hasEnded } from './decide.ts'
import type { Decision } from './graph.ts'
import { completedJobs, endedAs, failureReason, hasEndedJobs, hasEndedUndo, nextPlace, stateOf } from './standing.ts'
import { type Edits, StepFailed, type StepJob, StepJobs, type StepJobsServices } from './step-jobs.ts'

export interface CourseServices extends StepJobsServices {
  clock: Clock
  insertSteps(
    session: Session,
    contract: JobContract,
    given: { jobs: readonly NewJob[]; tells: boolean },
  ): Promise<{ ids: string[]; keys: WorkKey[] }>
}

export interface CourseOptions {
  /** A person's changes, before anything is decided. Returns the steps that were changed: none with a running job. */
  change?: (workflow: LockedWorkflow, steps: readonly StepRow[]) => readonly StepRow[]
  edits?: Edits
  /** Who let failed jobs be replaced. */
  by?: string
  /** A step that cannot start is the caller's mistake, and thrown. */
  isStrict?: boolean
  /** The transaction is somebody else's. */
  tells?: boolean
  /** Steps that Postgres refused to start, and why. */
  refused?: ReadonlyMap<string, string>
}

/** What has to be done when the transaction has committed. */
export interface Advanced {
  workflow: LockedWorkflow
  /** It came to its end with this. */
  hasEnded: boolean
  queues: ReadonlySet<string>
  keys: readonly WorkKey[]
  /** Jobs to be cancelled where they wait and, if somebody cancelled the workflow, asked to stop where they run. */
  cancel: readonly string[]
}

/** Postgres will not store the jobs of this step. */
class StartRefused extends Error {
  readonly step: string

  constructor(step: string, cause: unknown) {
    super(`Postgres refuses to store its jobs (${(cause as Error).message})`, { cause })
    this.step = step
  }
}

/** Does it again without each step that Postgres refuses to start: that one then fails instead of all of them. */
export async function withoutRefused<Result>(
  work: (refused: ReadonlyMap<string, string>) => Promise<Result>,
): Promise<Result> {
  const refused = new Map<string, string>()
  for (;;) {
    try {
      return await work(refused)
    } catch (error) {
      if (!(error instanceof StartRefused) || refused.has(error.step)) throw error
      refused.set(error.step, error.message)
    }
  }
}

/** Jobs that were asked to stop are asked again by then. */
const ASK_AGAIN_MS = 60_000

/** Undefined: there is no such workflow. */
export async function advanceIn(
  session: Session,
  services: CourseServices,
  id: string,
  options: CourseOptions = {},
): Promise<Advanced | undefined> {
  const workflow = await workflowLock(session, id)
  if (workflow === undefined) return undefined
  const steps = await workflowStepRows(session, id)
  return new Course(session, services, { workflow, steps, options }).run()
}

class Course {
  readonly #session: Session
  readonly #services: CourseServices
  readonly #workflow: LockedWorkflow
  readonly #steps: readonly StepRow[]
  readonly #byName: ReadonlyMap<string, StepRow>
  readonly #options: CourseOptions
  readonly #jobs: StepJobs
  readonly #changed = new Set<StepRow>()
  readonly #asked = new Set<string>()
  readonly #queues = new Set<string>()
  readonly #keys: WorkKey[] = []

  constructor(
    session: Session,
    services: CourseServices,
    { workflow, steps, options }: { workflow: LockedWorkflow; steps: readonly StepRow[]; options: CourseOptions },
  ) {
    this.#session = session
    this.#services = services
    this.#workflow = workflow
    this.#steps = steps
    this.#options = options
    this.#byName = new Map(steps.map((step) => [step.name, step]))
    this.#jobs = new StepJobs(session, services, { workflow, steps: this.#byName, edits: options.edits ?? {} })
  }

  async run(): Promise<Advanced> {
    const before = factsOf(this.#workflow)
    const { change } = this.#options
    const hadEnded = hasEnded(this.#workflow.status) && change === undefined
    for (const step of change?.(this.#workflow, this.#steps) ?? []) this.#changed.add(step)
    await this.#endSteps()
    while (await this.#carryOut(decide(stateOf(this.#workflow, this.#steps, this.#asked))));
    const isOver = hasEnded(this.#workflow.status)
    Object.assign(this.#workflow, { held: null, isLookedAfter: false })
    await workflowStepWrite(this.#session, this.#workflow.id, [...this.#changed])
    if (factsOf(this.#workflow) !== before || this.#asked.size > 0) await this.#write(isOver)
    return {
      workflow: this.#workflow,
      hasEnded: isOver && !hadEnded,
      queues: this.#queues,
      keys: this.#keys,
      cancel: await this.#jobsToCancel(),
    }
  }

  /** In the order of their declaration: of those that ended at once nobody knows a better one. */
  async #endSteps(): Promise<void> {
    const ended = this.#steps.filter(hasEndedJobs)
    const undone = this.#steps.filter(hasEndedUndo)
    const failed = ended.filter((step) => endedAs(step) !== 'completed')
    const reasons = await this.#reasonsOf(failed, 'do')
    let place = nextPlace(this.#steps)
    for (const step of ended) {
      step.status = endedAs(step)
      step.reason = reasons.get(step.position) ?? null
      if (completedJobs(step) > 0 || step.status === 'completed') step.completedAs = place++
      this.#changed.add(step)
    }
    const undoReasons = await this.#reasonsOf(
      undone.filter(({ undoFailed }) => undoFailed > 0),
      'undo',
    )
    for (const step of undone) {
      step.undo = step.undoFailed > 0 ? 'failed' : 'done'
      step.reason = undoReasons.get(step.position) ?? step.reason
      this.#changed.add(step)
    }
    for (const step of this.#steps) if (step.needsAdvance) this.#changed.add(step)
  }

  async #reasonsOf(steps: readonly StepRow[], kind: 'do' | 'undo'): Promise<Map<number, string | null>> {
    if (steps.length === 0) return new Map()
    const positions = steps.map(({ position }) => position)
    return workflowItemReason(this.#session, this.#workflow.id, positions, kind)
  }

  /** False: nothing is left to be done now. */
  async #carryOut(decision: Decision): Promise<boolean> {
    const { start, skip, drop, cancel, undo, stopping, status } = decision
    const workflow = this.#workflow
    const isNews = status !== workflow.status || stopping !== workflow.stopping
    if (stopping !== null && workflow.stopping === null) workflow.reason = failureReason(this.#steps)
    workflow.status = status
    workflow.stopping = stopping
    for (const name of skip) this.#mark(name, 'skipped')
    for (const name of drop) this.#mark(name, 'cancelled')
    for (const name of cancel) this.#asked.add(name)
    for (const name of start) await this.#start(this.#step(name), 'do')
    if (undo !== null) await this.#start(this.#step(undo), 'undo')
    return isNews || undo !== null || start.length + skip.length + drop.length + cancel.length > 0
  }

  #step(name: string): StepRow {
    return this.#byName.get(name) as StepRow
  }

  #mark(name: string, status: 'skipped' | 'cancelled'): void {
    const step = this.#step(name)
    step.status = status
    this.#changed.add(step)
  }

  async #start(step: StepRow, kind: 'do' | 'undo'): Promise<void> {
    this.#changed.add(step)
    try {
      const refused = this.#options.refused?.get(step.name)
      if (refused !== undefined) throw new StepFailed(new Error(refused))
      const jobs = await (kind === 'do' ? this.#jobs.doing(step) : this.#jobs.undoing(step))
      await this.#insert(step, kind, jobs)
      if (kind === 'do') this.#hasStarted(step, jobs)
      else Object.assign(step, { undo: jobs.length === 0 ? 'done' : 'running', undoLeft: jobs.length, undoFailed: 0 })
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
      if (this.#options.isStrict) throw error.cause
      step.reason = error.message
      if (kind === 'do') step.status = 'failed'
      else step.undo = 'failed'
    }
  }

  #hasStarted(step: StepRow, jobs: readonly StepJob[]): void {
    const kept = step.items === null ? 0 : completedJobs(step)
    step.items = kept + jobs.length
    step.itemsLeft = jobs.length
    step.itemsFailed = 0
    step.itemsCancelled = 0
    step.reason = null
    step.status = 'running'
    if (jobs.length > 0) return
    step.status = 'completed'
    step.completedAs = nextPlace(this.#steps)
  }

  async #insert(step: StepRow, kind: 'do' | 'undo', jobs: readonly StepJob[]): Promise<void> {
    if (jobs.length === 0) return
    const contract = this.#jobs.contractOf(step, kind)
    const { tells = false, by } = this.#options
    try {
      const given = { jobs: jobs.map(({ job }) => job), tells }
      const { ids, keys } = await this.#services.insertSteps(this.#session, contract, given)
      const items = jobs.map(({ item, job }, i) => ({ item, jobId: ids[i] as string, payload: job.payload }))
      const isKept = kind === 'do' && step.canBeUndone
      const place = { workflowId: this.#workflow.id, position: step.position, kind }
      await workflowItemWrite(this.#session, { ...place, items, payloadVersion: isKept ? contract.version : null })
      const heirs = jobs.flatMap(({ replaces }, i) =>
        replaces === null ? [] : { deadJobId: replaces, jobId: ids[i] as string },
      )
      const now = this.#services.clock.databaseNow()
      await deadLetterReplaced(this.#session, now, heirs, by ?? `workflow ${this.#workflow.id}`)
      await stepInherit(this.#session, now, heirs)
      this.#queues.add(contract.queue.name)
      this.#keys.push(...keys)
    } catch (error) {
      throw isRefused(error) ? new StartRefused(step.name, error) : error
    }
  }

  async #write(isOver: boolean): Promise<void> {
    const { id, status, stopping, rollsBack, reason } = this.#workflow
    const lookAfterMs = this.#asked.size > 0 ? ASK_AGAIN_MS : null
    const change = { id, status, stopping, rollsBack, reason, hasEnded: isOver, lookAfterMs }
    await workflowWrite(this.#session, this.#services.clock.databaseNow(), change)
  }

  async #jobsToCancel(): Promise<string[]> {
    const positions = this.#steps.filter(({ name }) => this.#asked.has(name)).map(({ position }) => position)
    const running = { kind: 'do', status: 'running' } as const
    const items = await workflowItemList(this.#session, this.#workflow.id, positions, running)
    return items.map(({ jobId }) => jobId)
  }
}

/** What its row says of it, apart from what never changes. What it was held by is over when it was advanced. */
function factsOf({ status, stopping, rollsBack, reason, held, isLookedAfter }: LockedWorkflow): string {
  return JSON.stringify([status, stopping, rollsBack, reason, held, isLookedAfter])
}
