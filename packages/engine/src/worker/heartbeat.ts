// The heartbeat: renews the lease with a report, and reads back at each beat what is asked of this worker and what the database
// says it runs.
//
// Runs in the pulse thread. A beat that fails is tried again soon; trust in the lease, which is on the board, ends by itself.
import { monotonicMs } from '../clock.ts'
import type { Session } from '../store/db.ts'
import { jobRunning, type RunningRow } from '../store/running-jobs.ts'
import { type HeldLease, type NewWorker, workerBeat, workerEnd, workerRegister } from '../store/workers.ts'
import type { Board } from './board.ts'
import { OldestRun } from './oldest-run.ts'
import type { Placements } from './placements.ts'
import type { PulseConnection } from './pulse-connection.ts'
import { type FromPulse, type LeaseTimes, MAIN_BEAT_MS, type PulseReport, trustMarginMs } from './pulse-protocol.ts'
import { runKey } from './run.ts'

const RETRY_MS = 2_000

export interface HeartbeatServices {
  times: LeaseTimes
  board: Board
  placements: Placements
  connection: PulseConnection
  post(message: FromPulse): void
}

export class Heartbeat {
  readonly #services: HeartbeatServices
  #worker: NewWorker | undefined
  #isRegistered = false
  #oldest = new OldestRun()
  #report: { report: PulseReport; atMs: number } | undefined
  /** What the main thread was told that is asked of it. */
  #asked: string | undefined
  #timer: NodeJS.Timeout | undefined
  #isBeating = false
  #beatAgain = false
  #isStopping = false

  constructor(services: HeartbeatServices) {
    this.#services = services
  }

  /** Under whose id the lease is, or is being taken out. */
  get workerId(): string | undefined {
    return this.#worker?.id
  }

  /** Takes out a lease for this worker, and renews it from then on. */
  register(worker: NewWorker): void {
    this.#worker = worker
    this.#isRegistered = false
    this.#oldest = new OldestRun()
    void this.beat()
  }

  /** For the beats to come. */
  report(report: PulseReport): void {
    this.#report = { report, atMs: monotonicMs() }
  }

  /** Renews the lease and reads back what we run. One at a time; a request meanwhile makes it run once more. */
  async beat(): Promise<void> {
    if (this.#isBeating) {
      this.#beatAgain = true
      return
    }
    clearTimeout(this.#timer)
    this.#isBeating = true
    const { connection, post, times } = this.#services
    const { heartbeatMs } = times
    let delay = heartbeatMs
    try {
      await this.#renew()
      // Only now: nothing about LISTEN may delay or endanger the lease.
      connection.lookAfterListen()
    } catch (error) {
      connection.drop()
      delay = Math.min(heartbeatMs, RETRY_MS)
      post({ kind: 'error', during: 'heartbeat', message: (error as Error).message })
    } finally {
      this.#isBeating = false
    }
    if (this.#isStopping) return
    if (this.#beatAgain) {
      this.#beatAgain = false
      delay = 0
    }
    this.#timer = setTimeout(() => void this.beat(), delay)
  }

  async #renew(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined || this.#isStopping) return
    const { board, connection, post, times } = this.#services
    const session = await connection.session()
    const { ttlMs } = times
    const sentAtMs = monotonicMs()
    const isFirst = !this.#isRegistered
    const renew = isFirst ? workerRegister : workerBeat
    const held = await connection.within(renew(session, null, worker, this.#reportText()))
    if (worker !== this.#worker) return
    if (held === undefined) {
      board.trustUntil(0)
      this.#worker = undefined
      post({ kind: 'lost', workerId: worker.id })
      return
    }
    this.#isRegistered = true
    board.trustUntil(sentAtMs + ttlMs - trustMarginMs(times))
    if (isFirst) post({ kind: 'registered', workerId: worker.id })
    this.#tellAsked(worker.id, held)
    if (isFirst) return
    const rows = await this.#look(session, worker.id, sentAtMs)
    post({ kind: 'running', workerId: worker.id, rows, sentAtMs })
  }

  #tellAsked(workerId: string, { request }: HeldLease): void {
    const asked = JSON.stringify(request)
    if (asked === this.#asked) return
    this.#asked = asked
    this.#services.post({ kind: 'asked', workerId, request })
  }

  /** A main thread that stands still cannot report: how long it has done so is seen from here. */
  #reportText(): string | null {
    if (this.#report === undefined) return null
    const { report, atMs } = this.#report
    const now = monotonicMs()
    const sinceTurnMs = Math.round(now - this.#services.board.lastBeat())
    const loopLagMs = Math.max(report.loopLagMs, sinceTurnMs - MAIN_BEAT_MS)
    return JSON.stringify({ ...report, loopLagMs, ageMs: Math.round(now - atMs) })
  }

  /** What the database says we run. A run of ours that is missing is looked for everywhere before it is called lost. */
  async #look(session: Session, workerId: string, sentAtMs: number): Promise<RunningRow[]> {
    const { connection } = this.#services
    const sinceS = this.#oldest.sinceS()
    let rows = await connection.within(jobRunning(session, workerId, sinceS))
    if (sinceS !== null && this.#isMissing(rows, sentAtMs)) {
      rows = await connection.within(jobRunning(session, workerId, null))
    }
    this.#oldest.saw(rows)
    return rows
  }

  #isMissing(rows: readonly RunningRow[], sentAtMs: number): boolean {
    const listed = new Set(rows.map((row) => runKey(row.id, row.runId)))
    const { board, placements } = this.#services
    const started = placements.heardBefore(sentAtMs, (place) => board.isStarted(place))
    return started.some(({ id, runId }) => !listed.has(runKey(id, runId)))
  }

  /** Ends the lease, as far as the database can be told: it runs out by itself. */
  async end(reason: string): Promise<void> {
    const { connection } = this.#services
    this.#isStopping = true
    clearTimeout(this.#timer)
    const session = this.#worker === undefined ? undefined : connection.current
    if (session !== undefined && this.#worker !== undefined) {
      await connection.within(workerEnd(session, null, this.#worker.id, reason))
    }
  }
}
