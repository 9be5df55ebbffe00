// Writes settlements in batches, and does not give up easily.
//
// Whatever ends while a flush is under way goes with the next one. A flush whose reply was lost is repeated, and before
// a repeated flush calls a fence lost it reads back whether the first one had done the work. Patience ends with the
// lease, with the run's deadline or after a minute; then the run is forgotten, and reconciliation gives it back.
import { type Clock, monotonicMs } from '../clock.ts'
import { isNoPartition, isTransient } from '../errors.ts'
import { type Database, isConnectionFailure } from '../store/db.ts'
import { jobRunState, type Settlement, settle } from '../store/settlements.ts'
import type { Run } from './run.ts'

const MAX_BATCH = 1_000
const MAX_IN_FLIGHT = 2
const PATIENCE_MS = 60_000

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
}

export interface AckerServices {
  db: Database
  clock: Clock
  isTrusted(): boolean
  ensurePartitions(): Promise<void>
  onSettled(entry: Entry, result: SettleResult): void
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

  add(entry: Entry): void {
    entry.run.isSettling = true
    this.#unsettled++
    this.#pending.push({ ...entry, sinceMs: monotonicMs() })
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
    const kinds = (['finish', 'requeue', 'bury'] as const).map((kind) =>
      batch.filter((entry) => entry.settlement.kind === kind),
    )
    await Promise.all(kinds.filter((entries) => entries.length > 0).map((entries) => this.#write(entries, 0)))
    this.#inFlight--
    this.#schedule()
  }

  /** Never rejects: every entry ends as won, lost or abandoned. */
  async #write(batch: Waiting[], failures: number): Promise<void> {
    const { db, clock } = this.#services
    try {
      const won = await settle(
        db,
        clock.databaseNow(),
        batch.map((entry) => entry.settlement),
      )
      const missed = batch.filter((entry) => !won.has(entry.run.job.id))
      for (const entry of batch) if (won.has(entry.run.job.id)) this.#settled(entry, 'won')
      if (missed.length === 0) return
      if (failures === 0) for (const entry of missed) this.#settled(entry, 'lost')
      else await this.#readBack(missed, failures)
    } catch (error) {
      await this.#recover(batch, failures, error)
    }
  }

  async #recover(batch: Waiting[], failures: number, error: unknown): Promise<void> {
    this.#services.onError('settle', error)
    if (isNoPartition(error) && failures < 3) {
      await this.#services.ensurePartitions().catch(() => {})
      return this.#write(batch, failures + 1)
    }
    if (isConnectionFailure(error) || isTransient(error)) return this.#tryAgain(batch, failures)
    // Postgres refuses a value. It is found by halving; the rest is written as it is.
    if (batch.length > 1) {
      const middle = batch.length >> 1
      await this.#write(batch.slice(0, middle), failures)
      return this.#write(batch.slice(middle), failures)
    }
    const [entry] = batch as [Waiting]
    if (failures > 3) return this.#settled(entry, 'abandoned')
    return this.#write([{ ...entry, settlement: withoutDetails(entry.settlement) }], failures + 4)
  }

  async #tryAgain(batch: Waiting[], failures: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(2_000, 100 * 2 ** failures)))
    const now = monotonicMs()
    const isHopeless = ({ run, sinceMs }: Waiting): boolean =>
      !this.#services.isTrusted() || now > run.stuckAtMs || now > sinceMs + PATIENCE_MS
    for (const entry of batch) if (isHopeless(entry)) this.#settled(entry, 'abandoned')
    const rest = batch.filter((entry) => !isHopeless(entry))
    if (rest.length > 0) await this.#readBack(rest, failures + 1)
  }

  async #readBack(batch: Waiting[], failures: number): Promise<void> {
    try {
      const states = await jobRunState(
        this.#services.db,
        batch.map((entry) => entry.settlement),
      )
      const open: Waiting[] = []
      batch.forEach((entry, i) => {
        if (states[i] === 'running') open.push(entry)
        else this.#settled(entry, states[i] === 'settled' || leavesNoTrace(entry.settlement) ? 'won' : 'lost')
      })
      if (open.length > 0) await this.#write(open, failures)
    } catch (error) {
      this.#services.onError('read back', error)
      await this.#tryAgain(batch, failures)
    }
  }

  #settled(entry: Entry, result: SettleResult): void {
    this.#unsettled--
    this.#services.onSettled(entry, result)
    if (this.#unsettled > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** With retention 'none' a finished job is only deleted; while the lease is trusted, nobody but us can have done it. */
function leavesNoTrace(settlement: Settlement): boolean {
  return settlement.kind !== 'requeue' && settlement.retention === 'none'
}

/** The same outcome with nothing in it that Postgres could refuse. */
function withoutDetails(settlement: Settlement): Settlement {
  const failure = {
    class: 'Unrecordable',
    message: 'The failure of this run could not be stored.',
    stack: null,
    fingerprint: null,
    logs: null,
  }
  if (settlement.kind === 'finish') return { ...settlement, result: null, reason: 'result could not be stored' }
  return settlement.kind === 'bury' || settlement.failure !== null
    ? ({ ...settlement, failure } as Settlement)
    : settlement
}
