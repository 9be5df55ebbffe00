// Writes settlements in batches, and does not give up easily.
//
// Whatever ends while a flush is under way goes with the next one. A flush whose reply was lost is repeated, and before
// a repeated flush calls a fence lost it reads back whether the first one had done the work. Patience ends with the
// lease, with the run's deadline or after a minute; then the run is forgotten, and reconciliation gives it back.
import { type Clock, monotonicMs } from '../clock.ts'
import { failureOf } from '../failure.ts'
import { isNoPartition, isRefused } from '../sql-state.ts'
import type { Database } from '../store/db.ts'
import {
  completesStep,
  endsStep,
  jobRunState,
  needsTransaction,
  type Settled,
  type Settlement,
  type StepEnd,
  settle,
} from '../store/settlements.ts'
import type { DueWorkflow } from '../store/workflow-items.ts'
import type { Run } from './run.ts'

const MAX_BATCH = 1_000
const MAX_IN_FLIGHT = 2
const PATIENCE_MS = 60_000
/** A job whose outcome Postgres will not store comes back no faster than this. */
const UNRECORDABLE_DELAY_MS = 60_000

export type SettleResult =
  | 'won'
  /** The fence did not hold: another run has taken over, or the job is gone. */
  | 'lost'
  /** It could not be written in time. */
  | 'abandoned'

export interface Entry {
  run: Run
  settlement: Settlement
}

interface Waiting extends Entry {
  sinceMs: number
  /** How often its content was reduced because Postgres refused it. */
  reductions: number
  /** What has to be done when it is known to be written. */
  followUp?: (() => void) | undefined
}

export interface AckerServices {
  db: Database
  clock: Clock
  isTrusted(): boolean
  ensurePartitions(): Promise<void>
  /** Ends a job of a workflow, with what follows. Says before it commits what has to be done when it has. */
  settleStep(settlement: StepEnd, onAdvanced: (followUp: (() => void) | undefined) => void): Promise<Settled>
  onSettled(entry: Entry, result: SettleResult): void
  /** Something may follow in these workflows. */
  onDue(workflows: readonly DueWorkflow[]): void
  /** Jobs of these workflows have ended, and whether something follows is not known: the reply was lost. */
  onStepsEnded(workflowIds: readonly string[]): void
  /** There is room for more results. */
  onFlushed(): void
  onError(during: string, error: unknown): void
}

export class Acker {
  readonly #services: AckerServices
  #pending: Waiting[] = []
  #inFlight = 0
  #unsettled = 0
  #isScheduled = false
  #idle: (() => void)[] = []

  constructor(services: AckerServices) {
    this.#services = services
  }

  /** How many settlements are not written yet. */
  get backlog(): number {
    return this.#unsettled
  }

  add(run: Run, settlement: Settlement): void {
    run.isSettling = true
    this.#unsettled++
    this.#pending.push({ run, settlement, sinceMs: monotonicMs(), reductions: 0 })
    this.#schedule()
  }

  /** Resolves when nothing is left to write. */
  async drain(): Promise<void> {
    if (this.#unsettled > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pending.length === 0 || this.#inFlight >= MAX_IN_FLIGHT) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#inFlight < MAX_IN_FLIGHT) void this.#flush(this.#pending.splice(0, MAX_BATCH))
    })
  }

  async #flush(batch: Waiting[]): Promise<void> {
    this.#inFlight++
    await Promise.all(byKind(batch).map((entries) => this.#write(entries, 0)))
    this.#inFlight--
    this.#services.onFlushed()
    this.#schedule()
  }

  /** Every entry ends as won, lost or abandoned. `retries`: how often a reply was missing before. */
  async #write(batch: Waiting[], retries: number): Promise<void> {
    try {
      const { won, due } = await this.#settle(batch, retries)
      if (due.length > 0) this.#services.onDue(due)
      const missed: Waiting[] = []
      for (const entry of batch) {
        if (!won.has(entry.settlement)) missed.push(entry)
        else {
          if (retries > 0) forgetFollowUp(entry)
          this.#settled(entry, 'won')
        }
      }
      if (missed.length === 0) return
      if (retries === 0) for (const entry of missed) this.#settled(entry, 'lost')
      else await this.#readBack(missed, retries)
    } catch (error) {
      this.#services.onError('settle', error)
      // Which of the attempts it was that may have been written cannot be told any more.
      if (retries > 0) for (const entry of batch) forgetFollowUp(entry)
      if (isRefused(error)) await this.#reduce(batch, retries)
      else {
        if (isNoPartition(error)) await this.#services.ensurePartitions().catch(() => {})
        await this.#tryAgain(batch, retries)
      }
    }
  }

  #settle(batch: readonly Waiting[], retries: number): Promise<Settled> {
    const { db, clock, settleStep } = this.#services
    const now = clock.databaseNow()
    const settlements = batch.map((entry) => entry.settlement)
    if (!settlements.some(needsTransaction)) return settle(db, now, settlements)
    // Nobody else's result waits for what follows from this one.
    const [only] = this.#unsettled === 1 && retries === 0 ? batch : []
    if (only === undefined || !completesStep(only.settlement)) return db.atOnce((tx) => settle(tx, now, settlements))
    return settleStep(only.settlement, (followUp) => {
      only.followUp = followUp
    })
  }

  /** Postgres refuses a value. It is found by halving, and written with less; the rest is written as it is. */
  async #reduce(batch: Waiting[], retries: number): Promise<void> {
    if (batch.length > 1) {
      const middle = batch.length >> 1
      await this.#write(batch.slice(0, middle), retries)
      await this.#write(batch.slice(middle), retries)
      return
    }
    const [entry] = batch as [Waiting]
    const settlement = entry.reductions === 0 ? withoutDetails(entry.settlement) : lastResort(entry.settlement)
    if (entry.reductions > 1) this.#settled(entry, 'abandoned')
    else await this.#write([{ ...entry, settlement, reductions: entry.reductions + 1 }], retries)
  }

  async #tryAgain(batch: Waiting[], retries: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(2_000, 50 * 2 ** retries)))
    const rest = batch.filter((entry) => !this.#isHopeless(entry))
    for (const entry of batch) if (!rest.includes(entry)) this.#settled(entry, 'abandoned')
    if (rest.length > 0) await this.#readBack(rest, retries + 1)
  }

  /** A burial is written at the run's deadline, so that deadline is no reason to give it up. */
  #isHopeless({ run, settlement, sinceMs }: Waiting): boolean {
    const now = monotonicMs()
    const isTooLate = settlement.kind !== 'bury' && now > run.stuckAtMs
    return !this.#services.isTrusted() || isTooLate || now > sinceMs + PATIENCE_MS
  }

  async #readBack(batch: Waiting[], retries: number): Promise<void> {
    try {
      const states = await jobRunState(
        this.#services.db,
        batch.map((entry) => entry.settlement),
      )
      const open = batch.filter((_, i) => states[i] === 'running')
      const won = batch.filter(
        (entry, i) => states[i] === 'settled' || (states[i] === 'gone' && leavesNoTrace(entry.settlement)),
      )
      for (const entry of batch) if (!open.includes(entry)) this.#settled(entry, won.includes(entry) ? 'won' : 'lost')
      const ended = won.filter(({ settlement }) => endsStep(settlement))
      if (ended.length > 0) this.#services.onStepsEnded(ended.map(({ run }) => run.job.workflowId as string))
      if (open.length > 0) await this.#write(open, retries)
    } catch (error) {
      this.#services.onError('read back', error)
      await this.#tryAgain(batch, retries)
    }
  }

  #settled(entry: Waiting, result: SettleResult): void {
    this.#unsettled--
    this.#services.onSettled(entry, result)
    if (result === 'won') entry.followUp?.()
    if (this.#unsettled > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** It belonged to the first attempt, which came to nothing. */
function forgetFollowUp(entry: Waiting): void {
  entry.followUp = undefined
}

/**
 * Each kind has a statement of its own, and a statement settles a job once. Two runs of one job come together when the
 * handler of a run that was given up is still there.
 */
function byKind(batch: readonly Waiting[]): Waiting[][] {
  const statements: { kind: Settlement['kind']; entries: Map<string, Waiting> }[] = []
  for (const entry of batch) {
    const { kind, id } = entry.settlement
    let fitting = statements.find((each) => each.kind === kind && !each.entries.has(id))
    if (fitting === undefined) {
      fitting = { kind, entries: new Map() }
      statements.push(fitting)
    }
    fitting.entries.set(id, entry)
  }
  return statements.map(({ entries }) => [...entries.values()])
}

/** With retention 'none' an ended job is only deleted; while the lease is trusted, nobody but us can have done it. */
function leavesNoTrace(settlement: Settlement): boolean {
  return settlement.kind !== 'requeue' && settlement.retention === 'none'
}

const unrecordable = {
  ...failureOf('Unrecordable', 'Postgres refused to store the outcome of this run.'),
  logs: null,
}

/** The same outcome with nothing in it that Postgres could refuse. */
function withoutDetails(settlement: Settlement): Settlement {
  if (settlement.kind === 'finish')
    return { ...settlement, result: null, logs: null, reason: 'result could not be stored' }
  if (settlement.kind === 'bury') return { ...settlement, failure: unrecordable }
  return settlement.failure === null ? settlement : { ...settlement, failure: unrecordable }
}

/** Neither the outcome nor a dead letter can be written: the job fails this attempt, slowly and in plain sight. */
function lastResort({ id, runId }: Settlement): Settlement {
  return {
    kind: 'requeue',
    id,
    runId,
    delayMs: UNRECORDABLE_DELAY_MS,
    refund: false,
    crash: 'clear',
    failure: unrecordable,
  }
}
