// Carries workflows on when jobs of them have ended.
//
// Whoever has ended jobs says of which workflows, and those in which a step is done are advanced, a few at a time, beside
// whatever the process does. All processes may advance at once: the workflow's lock decides, and the second finds nothing
// left to do. If a process dies between the end of a job and the advance, the sweep of another one does it: the step's
// row says so. What fails for a reason that may pass is tried again by the sweep, and the workflow's row says why.
import { after, type Clock, monotonicMs } from '../clock.ts'
import { MillraceError } from '../errors.ts'
import type { Events } from '../events.ts'
import { failureFrom } from '../failure.ts'
import type { Logger } from '../logger.ts'
import { runContext } from '../run-context.ts'
import { isTransient } from '../sql-state.ts'
import { type Database, isConnectionFailure } from '../store/db.ts'
import { lookAt } from '../store/ended-jobs.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { type Settled, type StepEnd, settle } from '../store/settlements.ts'
import { CommitUnknown, type Transaction } from '../store/transaction.ts'
import { type DueWorkflow, type EndedItem, workflowSettle } from '../store/workflow-items.ts'
import { workflowDue, workflowHold, workflowLook, workflowPostpone } from '../store/workflows.ts'
import { FIXED_CHAIN } from './chain.ts'
import { cancelWith } from './children.ts'
import { type Advanced, advanceIn, type CourseOptions, type CourseServices } from './course.ts'
import { reportEnd } from './end-events.ts'
import { Line } from './line.ts'
import { QUICK_MS, settleStepIn } from './settle-step.ts'
import { withoutRefused } from './step-inserts.ts'

export interface AdvancerServices extends CourseServices {
  db: Database
  clock: Clock
  events: Events
  logger: Logger
  wake(queues: Iterable<string>): void
  admit(keys: readonly WorkKey[]): Promise<void>
  /** Cancels jobs that wait and, unless told otherwise, asks those that run to stop. */
  cancel(jobIds: readonly string[], cancellation: { reason: string; onlyWaiting: boolean }): Promise<unknown>
  /** Asks other processes to advance workflows that this program does not know. */
  tell(workflowIds: readonly string[]): Promise<void>
  onError(during: string, error: unknown): void
}

export interface SweepResult {
  advanced: number
  /** Jobs that had ended without a word to their workflow. */
  found: number
  isMore: boolean
  /** When the next step is due that waits for a time; null: there is none. */
  dueInMs: number | null
}

/** How often somebody looks for what was left undone. */
export const SWEEP_MS = 60_000
/** Many steps that are due shortly after one another are advanced together. */
export const SOONEST_MS = 500
const AT_ONCE = 4
const DEADLINE_MS = 120_000
const LOOK_DEADLINE_MS = 15_000
const RETRY_MS = 60_000
const SWEEP_LIMIT = 200
const SWEEP_STEPS = 1_000
const MAX_TOLD = 1_000
const NOBODY =
  'Nobody has carried it on: no running program seems to know it. List it in createMillrace({ workflows }) of one that runs workers.'

export class Advancer {
  readonly #services: AdvancerServices
  readonly #line = new Line(AT_ONCE, (id) => this.#advanceOne(id))
  readonly #following = new Set<Promise<void>>()
  #heard = new Set<string>()
  #looking: Promise<void> | undefined
  readonly #told = new Set<string>()
  #isAsking = false
  #hasSeen = false
  /** Names that were told of once. */
  readonly #unknown = new Set<string>()
  #sweepAfter = '0'
  /** One, for the first step that is due, however many wait. */
  #timer: { atMs: number; cancel: () => void } | undefined
  /** Workflows that others should have advanced at the last sweep. */
  #waiting = new Set<string>()

  constructor(services: AdvancerServices) {
    this.#services = services
  }

  /** Whether this program knows workflows, or has seen one: chains of listed jobs are nobody's in particular. */
  get isNeeded(): boolean {
    return this.#hasSeen || this.#services.definitions.names.length > 0
  }

  /** In these something may follow. Resolves when it was done. Never fails. */
  async due(workflows: readonly DueWorkflow[]): Promise<void> {
    this.#hasSeen = true
    const known = new Set(workflows.filter((each) => this.#isKnown(each)).map(({ id }) => id))
    const unknown = workflows.map(({ id }) => id).filter((id) => !known.has(id))
    // Whoever ended the job is not who starts the next one: nothing is inherited from it.
    const advanced = runContext.exit(() => this.#line.add(known))
    await this.#services.tell(unknown)
    await advanced
  }

  /** Jobs of these workflows have ended. Resolves when what follows was done. Never fails. */
  heard(workflowIds: readonly string[]): Promise<void> {
    for (const id of workflowIds) this.#heard.add(id)
    if (this.#heard.size === 0) return Promise.resolve()
    this.#looking ??= this.#lookAtHeard()
    return this.#looking
  }

  /**
   * Another process has ended jobs of these workflows, and does not know them: whoever does is asked. Never fails. Any role
   * may name any workflows, so one question at a time is asked, and too many are left to the sweep.
   */
  async told(workflowIds: readonly string[]): Promise<void> {
    for (const id of workflowIds) if (this.#told.size < MAX_TOLD) this.#told.add(id)
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#told.size > 0) {
      const ids = [...this.#told]
      this.#told.clear()
      const due = await this.#dueAmong(ids)
      void this.due(due.filter(({ name }) => this.#services.definitions.has(name)))
    }
    this.#isAsking = false
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#following)
    await this.#looking
    await this.#line.idle()
  }

  /** One workflow, in a transaction of its own. Throws what hinders it. Undefined: there is none. */
  async advance(id: string, options: CourseOptions = {}): Promise<Advanced | undefined> {
    const advanced = await withoutRefused((how) =>
      this.#services.db.transactionAhead((tx) => advanceIn(tx, this.#services, id, { ...options, ...how }), {
        deadlineMs: DEADLINE_MS,
      }),
    )
    if (advanced !== undefined) await this.afterwards(advanced)
    return advanced
  }

  /**
   * Ends a job of a workflow, with what follows if that is quick: else it is in `due`. `onAdvanced` is given what is to be
   * called when the job is known to have ended, before that is known: undefined if it will end alone.
   */
  async settleStep(
    db: Database,
    settlement: StepEnd,
    onAdvanced: (followUp: (() => void) | undefined) => void,
  ): Promise<Settled> {
    const settling = async (tx: Transaction): Promise<Settled> => {
      const { advanced, ...settled } = await settleStepIn(tx, this.#services, settlement)
      onAdvanced(advanced && (() => this.#follow(advanced)))
      return settled
    }
    this.#hasSeen = true
    try {
      return await runContext.exit(() => db.transactionAhead(settling, { lockTimeoutMs: QUICK_MS }))
    } catch (error) {
      // Until the commit is sent, nothing of it has happened.
      if (error instanceof CommitUnknown) throw error
      onAdvanced(undefined)
      return db.atOnce((tx) => settle(tx, this.#services.clock.databaseNow(), [settlement]))
    }
  }

  /** What follows from an advance that has committed. */
  async afterwards(advanced: Advanced): Promise<void> {
    const { workflow, hasEnded, queues, keys, cancel, dueInMs } = advanced
    const { events, wake, admit, cancel: cancelJobs } = this.#services
    if (queues.size > 0) wake(queues)
    if (keys.length > 0) await admit(keys)
    const onlyWaiting = workflow.stopping === 'failed'
    const reason = workflow.reason ?? 'its workflow was cancelled'
    if (cancel.length > 0) await cancelJobs(cancel, { reason, onlyWaiting })
    // After a failure, what runs is awaited.
    const children = onlyWaiting ? [] : advanced.cancelChildren
    for (const id of children) await this.advance(id, { change: cancelWith(reason) })
    for (const child of advanced.children) await this.afterwards(child)
    if (hasEnded) reportEnd(events, workflow)
    // Not awaited: this may be the turn in which it comes.
    if (hasEnded && workflow.parentId !== null) void this.heard([workflow.parentId])
    if (dueInMs !== null && dueInMs < SWEEP_MS) this.#sweepAt(dueInMs)
  }

  /** Does what was left undone, by whomever. */
  async sweep(): Promise<SweepResult> {
    const { db, clock, definitions } = this.#services
    const request = {
      names: [...definitions.names, FIXED_CHAIN],
      limit: SWEEP_LIMIT,
      after: this.#sweepAfter,
      steps: SWEEP_STEPS,
    }
    const { open, unknown, lost, seen, dueInMs } = await workflowLook(db, clock.databaseNow(), request)
    this.#sweepAfter = seen ?? '0'
    await this.#holdUnknown(unknown)
    const found = lost.length === 0 ? [] : await this.#recordLost(lost)
    await this.#line.add(new Set([...open, ...found]))
    const isMore = Math.max(open.length, lost.length) === SWEEP_LIMIT
    return { advanced: open.length, found: lost.length, isMore, dueInMs }
  }

  /** A step began to wait for a time that comes before the next sweep. If this process is gone by then, that will do. */
  #sweepAt(dueInMs: number): void {
    const atMs = monotonicMs() + dueInMs
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return
    this.#timer?.cancel()
    const sweep = async () => {
      this.#timer = undefined
      const { dueInMs: next } = await this.sweep()
      if (next !== null && next < SWEEP_MS) this.#sweepAt(Math.max(next, SOONEST_MS))
    }
    this.#timer = { atMs, cancel: after(dueInMs + 1, () => void sweep().catch(() => {})) }
  }

  /** What waited at the last sweep and still does, nobody seems to know. */
  async #holdUnknown(ids: readonly string[]): Promise<void> {
    const still = ids.filter((id) => this.#waiting.has(id))
    this.#waiting = new Set(ids)
    if (still.length > 0) await workflowHold(this.#services.db, still, NOBODY)
  }

  /** Their runs were ended by somebody who does not know of workflows. Returns the workflows in which something may follow. */
  async #recordLost(jobIds: readonly string[]): Promise<string[]> {
    const { db, definitions } = this.#services
    const seen = await lookAt(db, jobIds, LOOK_DEADLINE_MS)
    const ended = jobIds.flatMap((jobId): EndedItem[] => {
      const job = seen.get(jobId)
      if (job === undefined)
        return [{ jobId, status: 'failed', result: null, reason: 'the job is gone, and how it ended is not recorded' }]
      if (job.ended === undefined) return []
      const { status, reason, error, result, hasResult } = job.ended
      const text = hasResult ? JSON.stringify(result) : null
      if (status === 'completed') return [{ jobId, status, result: text, reason: null }]
      if (status === 'cancelled') return [{ jobId, status, result: null, reason }]
      return [{ jobId, status: 'failed', result: null, reason: `${reason}: ${error}` }]
    })
    const due = await workflowSettle(db, ended, { isOwn: true })
    return due.filter(({ name }) => definitions.has(name)).map(({ id }) => id)
  }

  async #lookAtHeard(): Promise<void> {
    const followed: Promise<void>[] = []
    while (this.#heard.size > 0) {
      // What ends at once comes together.
      await Promise.resolve()
      const ids = [...this.#heard]
      this.#heard = new Set()
      followed.push(this.due(await this.#dueAmong(ids)))
    }
    this.#looking = undefined
    await Promise.all(followed)
  }

  async #dueAmong(ids: readonly string[]): Promise<DueWorkflow[]> {
    try {
      return await workflowDue(this.#services.db, ids)
    } catch (error) {
      this.#services.onError('look for workflows', error)
      return []
    }
  }

  #follow(advanced: Advanced): void {
    const tracked = runContext
      .exit(() => this.afterwards(advanced))
      .catch((error: unknown) => this.#services.onError('carry a workflow on', error))
      .finally(() => this.#following.delete(tracked))
    this.#following.add(tracked)
  }

  async #advanceOne(id: string): Promise<void> {
    try {
      await this.advance(id).catch((error: unknown) => (isTransient(error) ? this.advance(id) : Promise.reject(error)))
    } catch (error) {
      if (isConnectionFailure(error)) return this.#services.onError('advance a workflow', error)
      await this.#postpone(id, error).catch(() => {})
    }
  }

  /** Its row says why it does not go on, and that somebody has to look again. */
  async #postpone(id: string, error: unknown): Promise<void> {
    const { db, clock, logger } = this.#services
    const why = error instanceof MillraceError ? error.message : failureFrom(error).message
    logger.warn({ workflow: id, why }, 'a workflow could not be advanced; it is tried again')
    await workflowPostpone(db, clock.databaseNow(), { id, why, delayMs: RETRY_MS })
  }

  #isKnown({ id, name }: { id: string; name: string }): boolean {
    const { definitions, logger } = this.#services
    if (definitions.has(name)) return true
    if (!this.#unknown.has(name)) {
      this.#unknown.add(name)
      const known = definitions.names
      logger.warn(
        { workflow: id, name, known },
        'a job of a workflow ended here that this program does not know: others carry it on',
      )
    }
    return false
  }
}
