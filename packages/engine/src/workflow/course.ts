// One advance of one workflow: what has ended is taken note of, decided is what follows, and all of it is written, in one
// transaction under the workflow's lock. So no step starts twice, whoever advances, and however many do at once.
import type { Session } from '../store/db.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { workflowChildEnd } from '../store/workflow-children.ts'
import { workflowItemForget, workflowItemList, workflowItemReason } from '../store/workflow-items.ts'
import {
  type LockedWorkflow,
  type StepPart,
  type StepRow,
  workflowLock,
  workflowStepPart,
  workflowStepRows,
  workflowStepWrite,
  workflowWrite,
} from '../store/workflows.ts'
import { takeUp } from './again.ts'
import { Children, newChild } from './children.ts'
import { decide, hasEnded } from './decide.ts'
import type { Decision } from './graph.ts'
import { completedJobs, endedAs, failureReason, hasEndedJobs, hasEndedUndo, stateOf } from './standing.ts'
import { CONDITION_NOT_MET } from './start-rules.ts'
import { type InsertServices, insertStarted, type Retrial, type Started, StartRefused } from './step-inserts.ts'
import { type Edits, StepFailed, type StepJob, StepJobs, type StepJobsServices } from './step-jobs.ts'
import { isPartEnough, Steps } from './steps.ts'
import { isWait, Waits, waitsUntil } from './waits.ts'

export type CourseServices = StepJobsServices & InsertServices

export interface CourseOptions extends Partial<Retrial> {
  /** A person's changes, before anything is decided. Returns the steps that were changed: none with a running job. */
  change?: (workflow: LockedWorkflow, steps: readonly StepRow[]) => readonly StepRow[]
  edits?: Edits
  /** Who let failed jobs be replaced. */
  by?: string
  /** A step that cannot start is the caller's mistake, and thrown. */
  isStrict?: boolean
  /** The transaction is somebody else's. */
  tells?: boolean
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
  /** Workflows that are steps of it, and were advanced with it. */
  children: readonly Advanced[]
  /** Those that are to be cancelled. */
  cancelChildren: readonly string[]
  /** When the first of the steps is due that began to wait. */
  dueInMs: number | null
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
  // Asked for together, read one after the other: what the steps say is said under the lock.
  const locking = workflowLock(session, id, { isOwn: options.tells !== true })
  const reading = options.change === undefined ? workflowStepPart(session, services.clock.databaseNow(), id) : undefined
  const [workflow, part] = await Promise.all([locking, reading])
  return workflow && advanceFrom(session, services, { workflow, part }, options)
}

/** The workflow is locked; the steps that matter were read after that. */
export async function advanceFrom(
  session: Session,
  services: CourseServices,
  { workflow, part }: { workflow: LockedWorkflow; part: StepPart | undefined },
  options: CourseOptions = {},
): Promise<Advanced> {
  const isEnough = part !== undefined && isPartEnough(workflow, part)
  const steps = isEnough ? Steps.part(part) : Steps.all(await workflowStepRows(session, workflow.id))
  return new Course(session, services, { workflow, steps, options }).run()
}

class Course {
  readonly #session: Session
  readonly #services: CourseServices
  readonly #workflow: LockedWorkflow
  readonly #options: CourseOptions
  readonly #steps: Steps
  readonly #jobs: StepJobs
  readonly #waits: Waits
  readonly #children: Children
  readonly #changed = new Set<StepRow>()
  readonly #asked = new Set<string>()
  readonly #queues = new Set<string>()
  readonly #keys: WorkKey[] = []

  constructor(
    session: Session,
    services: CourseServices,
    { workflow, steps, options }: { workflow: LockedWorkflow; steps: Steps; options: CourseOptions },
  ) {
    this.#session = session
    this.#services = services
    this.#workflow = workflow
    this.#steps = steps
    this.#options = options
    const { tells = false, isSingly = false } = options
    const advance = (id: string, how: CourseOptions) => advanceIn(session, services, id, { ...how, tells, isSingly })
    this.#children = new Children(session, services, { steps, advance })
    this.#waits = new Waits(session, services.clock.databaseNow(), { id: workflow.id, steps })
    this.#jobs = new StepJobs(session, services, { workflow, steps: steps.byName, edits: options.edits ?? {} })
  }

  async run(): Promise<Advanced> {
    const before = factsOf(this.#workflow)
    const { change } = this.#options
    for (const step of change?.(this.#workflow, this.#steps.rows) ?? []) this.#changed.add(step)
    const hadEnded = hasEnded(this.#workflow.status)
    for (const step of await this.#waits.end()) this.#changed.add(step)
    await this.#endSteps()
    do if (this.#steps.isTooSmall) await this.#readAll()
    while (await this.#carryOut(decide(stateOf(this.#workflow, this.#steps, this.#asked))))
    const isOver = hasEnded(this.#workflow.status)
    Object.assign(this.#workflow, { held: null, isLookedAfter: false })
    await this.#writeSteps()
    if (factsOf(this.#workflow) !== before || this.#asked.size > 0) await this.#write(isOver)
    if (isOver && !hadEnded) await this.#tellParent()
    const asked = this.#steps.rows.filter(({ name }) => this.#asked.has(name))
    return {
      workflow: this.#workflow,
      hasEnded: isOver && !hadEnded,
      queues: this.#queues,
      keys: this.#keys,
      cancel: await this.#jobsToCancel(asked),
      children: this.#children.advanced,
      cancelChildren: await this.#children.running(this.#workflow.id, asked),
      dueInMs: this.#waits.dueInMs,
    }
  }

  /** In the order in which they ended, however late anybody looks; of those that ended at once, as they were declared. */
  async #endSteps(): Promise<void> {
    const ended = this.#steps.rows.filter(hasEndedJobs).sort(byEnd)
    const undone = this.#steps.rows.filter(hasEndedUndo)
    const failed = ended.filter((step) => endedAs(step) !== 'completed')
    const reasons = await this.#reasonsOf(failed, 'do')
    for (const step of ended) {
      step.status = endedAs(step)
      step.reason = reasons.get(step.position) ?? step.reason
      if (completedJobs(step) > 0 || step.status === 'completed') step.completedAs = this.#steps.nextPlace()
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
    for (const step of this.#steps.rows) if (step.needsAdvance) this.#changed.add(step)
  }

  async #reasonsOf(steps: readonly StepRow[], kind: 'do' | 'undo'): Promise<Map<number, string | null>> {
    if (steps.length === 0) return new Map()
    const positions = steps.map(({ position }) => position)
    return workflowItemReason(this.#session, this.#workflow.id, positions, kind)
  }

  /** False: nothing is left to be done now. */
  async #carryOut(decision: Decision): Promise<boolean> {
    const { start, skip, drop, cancel, undo, takesUp, stopping, status } = decision
    const workflow = this.#workflow
    if (takesUp) return this.#takeUp()
    const isNews = status !== workflow.status || stopping !== workflow.stopping
    if (stopping !== null && workflow.stopping === null) workflow.reason = failureReason(this.#steps.rows)
    workflow.status = status
    workflow.stopping = stopping
    for (const name of skip) this.#mark(name, 'skipped')
    for (const name of drop) this.#mark(name, 'cancelled')
    for (const name of cancel) this.#asked.add(name)
    await this.#start(start, 'do')
    if (undo !== null) await this.#start([undo], 'undo')
    return isNews || undo !== null || start.length + skip.length + drop.length + cancel.length > 0
  }

  async #takeUp(): Promise<true> {
    const undone = await workflowItemForget(this.#session, this.#workflow.id)
    for (const step of takeUp(this.#workflow, this.#steps.rows, undone)) this.#changed.add(step)
    return true
  }

  #mark(name: string, status: 'skipped' | 'cancelled', reason?: string): void {
    const step = this.#steps.get(name)
    step.status = status
    if (reason !== undefined) step.reason = reason
    this.#changed.add(step)
  }

  async #start(names: readonly string[], kind: 'do' | 'undo'): Promise<void> {
    const started: Started[] = []
    for (const name of names) {
      const step = this.#steps.get(name)
      this.#changed.add(step)
      const jobs = await this.#jobsOf(step, kind)
      if (jobs !== undefined) started.push({ step, jobs, contract: this.#jobs.contractOf(step, kind) })
    }
    const { tells = false, by = `workflow ${this.#workflow.id}`, isSingly = false } = this.#options
    const plan = { workflowId: this.#workflow.id, kind, tells, by, isSingly }
    this.#keys.push(...(await insertStarted(this.#session, this.#services, plan, started)))
    for (const { step, jobs, contract } of started) {
      if (jobs.length > 0) this.#queues.add(contract.queue.name)
      if (kind === 'do') this.#hasStarted(step, jobs)
      else Object.assign(step, { undo: jobs.length === 0 ? 'done' : 'running', undoLeft: jobs.length, undoFailed: 0 })
    }
  }

  /** Undefined: the step has none, is skipped, or cannot start and has failed. */
  async #jobsOf(step: StepRow, kind: 'do' | 'undo'): Promise<StepJob[] | undefined> {
    try {
      const refused = this.#options.refused?.get(step.name)
      if (refused !== undefined) throw new StepFailed(new Error(refused))
      if (kind === 'do' && !(await this.#jobs.isWanted(step))) this.#mark(step.name, 'skipped', CONDITION_NOT_MET)
      else if (isWait(step)) await this.#waits.begin(step, await this.#jobs.inScope(step, waitsUntil))
      else if (step.kind === 'workflow') await this.#startChild(step, kind)
      else return await (kind === 'do' ? this.#jobs.doing(step) : this.#jobs.undoing(step))
      return undefined
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
      if (this.#options.isStrict) throw error.cause
      step.reason = error.message
      if (kind === 'do') step.status = 'failed'
      else step.undo = 'failed'
      return undefined
    }
  }

  async #startChild(step: StepRow, kind: 'do' | 'undo'): Promise<void> {
    try {
      if (kind === 'undo') await this.#children.undo(step, this.#workflow)
      else await this.#children.start(step, this.#workflow, () => this.#jobs.inScope(step, newChild(this.#workflow)))
    } catch (error) {
      throw error instanceof StartRefused ? new StartRefused(step.name, error.cause) : error
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
    step.completedAs = this.#steps.nextPlace()
  }

  /** What was decided so far is written, and read again with everything else. */
  async #readAll(): Promise<void> {
    await this.#writeSteps()
    this.#changed.clear()
    this.#steps.haveAll(await workflowStepRows(this.#session, this.#workflow.id))
  }

  async #writeSteps(): Promise<void> {
    await workflowStepWrite(this.#session, this.#workflow.id, [...this.#changed])
  }

  async #write(isOver: boolean): Promise<void> {
    const { id, status, stopping, rollsBack, resumes, reason } = this.#workflow
    const lookAfterMs = this.#asked.size > 0 ? ASK_AGAIN_MS : null
    const change = { id, status, stopping, rollsBack, resumes, reason, hasEnded: isOver, lookAfterMs }
    await workflowWrite(this.#session, this.#services.clock.databaseNow(), change)
  }

  async #tellParent(): Promise<void> {
    const { parentId, parentPosition, status, reason } = this.#workflow
    if (parentId === null || parentPosition === null) return
    await workflowChildEnd(this.#session, { parentId, parentPosition, status, reason })
  }

  async #jobsToCancel(asked: readonly StepRow[]): Promise<string[]> {
    const positions = asked.map(({ position }) => position)
    const running = { kind: 'do', status: 'running' } as const
    const items = await workflowItemList(this.#session, this.#workflow.id, positions, running)
    return items.map(({ jobId }) => jobId)
  }
}

/** The sort is stable: steps come in the order of their declaration. */
const byEnd = (a: StepRow, b: StepRow): number => (a.endedAt?.getTime() ?? 0) - (b.endedAt?.getTime() ?? 0)

/** What its row says of it, apart from what never changes. What it was held by is over when it was advanced. */
function factsOf({ status, stopping, rollsBack, resumes, reason, held, isLookedAfter }: LockedWorkflow): string {
  return JSON.stringify([status, stopping, rollsBack, resumes, reason, held, isLookedAfter])
}
