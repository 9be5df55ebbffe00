// The pulse thread: heartbeats, LISTEN and the watchdog, on a connection and an event loop of their own.
//
// It runs beside every worker, so that a handler that blocks the main loop neither loses the lease nor leaves the
// LISTEN socket undrained (which would pin vacuum). It dies with the process; if it alone dies, the main thread takes
// that as the loss of the lease.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { monotonicMs } from '../clock.ts'
import { failureOf } from '../failure.ts'
import type { Session } from '../store/db.ts'
import { notify, notifyWorkflows } from '../store/notifications.ts'
import { jobRunning, type RunningRow } from '../store/running-jobs.ts'
import { giveBack, settle } from '../store/settlements.ts'
import { type NewWorker, workerBeat, workerEnd, workerRegister } from '../store/workers.ts'
import { workflowSettle } from '../store/workflow-items.ts'
import { Board } from './board.ts'
import { OldestRun } from './oldest-run.ts'
import { PulseConnection } from './pulse-connection.ts'
import {
  type FromPulse,
  type PlacedJobs,
  type PlacedKind,
  type PulseSettings,
  type ToPulse,
  trustMarginMs,
} from './pulse-protocol.ts'
import { runKey } from './run.ts'

const WATCH_MS = 100
/** A loop that has not turned for this long is blocked: what it has not started is given back. */
const BLOCKED_MS = 1_000
const RETRY_MS = 2_000

interface Placed extends PlacedKind {
  id: string
  runId: string
}

class PulseThread {
  readonly #port: MessagePort
  readonly #settings: PulseSettings
  readonly #board: Board
  readonly #connection: PulseConnection
  /** For each place of the board the claim whose job lies there, as far as the main thread has told us, … */
  readonly #claims: (PlacedJobs | undefined)[]
  /** … and which of its jobs. */
  readonly #positions: Int32Array
  /** When we were told. */
  readonly #heardAtMs: Float64Array
  #worker: NewWorker | undefined
  #isRegistered = false
  #oldest = new OldestRun()
  #beatTimer: NodeJS.Timeout | undefined
  #isBeating = false
  #beatAgain = false
  #isBlocked = false
  #isKilling = false
  #isStopping = false

  constructor(port: MessagePort, settings: PulseSettings) {
    this.#port = port
    this.#settings = settings
    this.#board = new Board(settings.board)
    this.#claims = new Array<PlacedJobs | undefined>(this.#board.size).fill(undefined)
    this.#positions = new Int32Array(this.#board.size)
    this.#heardAtMs = new Float64Array(this.#board.size)
    this.#connection = new PulseConnection(settings, {
      onWork: (queue) => this.#post({ kind: 'work', queue }),
      onRules: () => this.#post({ kind: 'rules' }),
      onSchedules: () => this.#post({ kind: 'schedules' }),
      onReconcile: (workerId) => workerId === this.#worker?.id && void this.#beat(),
      onAwaited: (ids) => this.#post({ kind: 'awaited', ids }),
      onWorkflows: (ids) => this.#post({ kind: 'workflows', ids }),
      onKey: (key) => this.#post({ kind: 'key', key }),
      onListening: (isTrusted) => this.#post({ kind: 'listening', isTrusted }),
    })
    port.on('message', (message: ToPulse) => this.#receive(message))
    setInterval(() => this.#watch(), WATCH_MS)
  }

  #receive(message: ToPulse): void {
    switch (message.kind) {
      case 'register':
        this.#worker = message.worker
        this.#isRegistered = false
        this.#oldest = new OldestRun()
        void this.#beat()
        break
      case 'claimed': {
        const heardAtMs = monotonicMs()
        message.jobs.places.forEach((place, position) => {
          this.#claims[place] = message.jobs
          this.#positions[place] = position
          this.#heardAtMs[place] = heardAtMs
        })
        break
      }
      case 'stop':
        void this.#stop(message.reason)
        break
    }
  }

  /** Renews the lease and reads back what we run. One at a time; a request meanwhile makes it run once more. */
  async #beat(): Promise<void> {
    if (this.#isBeating) {
      this.#beatAgain = true
      return
    }
    clearTimeout(this.#beatTimer)
    this.#isBeating = true
    const { heartbeatMs } = this.#settings.times
    let delay = heartbeatMs
    try {
      await this.#renew()
      // Only now: nothing about LISTEN may delay or endanger the lease.
      this.#connection.verifyListen()
    } catch (error) {
      this.#connection.drop()
      delay = Math.min(heartbeatMs, RETRY_MS)
      this.#post({ kind: 'error', during: 'heartbeat', message: (error as Error).message })
    } finally {
      this.#isBeating = false
    }
    if (this.#isStopping) return
    if (this.#beatAgain) {
      this.#beatAgain = false
      delay = 0
    }
    this.#beatTimer = setTimeout(() => void this.#beat(), delay)
  }

  async #renew(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined || this.#isStopping) return
    const session = await this.#connection.session()
    const { ttlMs } = this.#settings.times
    const sentAtMs = monotonicMs()
    const isFirst = !this.#isRegistered
    const isHeld = await this.#connection.within(
      isFirst ? workerRegister(session, null, worker) : workerBeat(session, null, worker.id, ttlMs),
    )
    if (worker !== this.#worker) return
    if (!isHeld) {
      this.#board.trustUntil(0)
      this.#worker = undefined
      this.#post({ kind: 'lost', workerId: worker.id })
      return
    }
    this.#isRegistered = true
    this.#board.trustUntil(sentAtMs + ttlMs - trustMarginMs(this.#settings.times))
    if (isFirst) return this.#post({ kind: 'registered', workerId: worker.id })
    const rows = await this.#look(session, worker.id, sentAtMs)
    this.#post({ kind: 'running', workerId: worker.id, rows, sentAtMs })
  }

  /** What the database says we run. A run of ours that is missing is looked for everywhere before it is called lost. */
  async #look(session: Session, workerId: string, sentAtMs: number): Promise<RunningRow[]> {
    const sinceS = this.#oldest.sinceS()
    let rows = await this.#connection.within(jobRunning(session, workerId, sinceS))
    if (sinceS !== null && this.#isMissing(rows, sentAtMs)) {
      rows = await this.#connection.within(jobRunning(session, workerId, null))
    }
    this.#oldest.saw(rows)
    return rows
  }

  #isMissing(rows: readonly RunningRow[], sentAtMs: number): boolean {
    const listed = new Set(rows.map((row) => runKey(row.id, row.runId)))
    const before = (place: number) => (this.#heardAtMs[place] as number) < sentAtMs && this.#board.isStarted(place)
    return this.#placed(before).some(({ id, runId }) => !listed.has(runKey(id, runId)))
  }

  /** Watches the main loop from outside it. */
  #watch(): void {
    const lag = monotonicMs() - this.#board.lastBeat()
    if (lag < BLOCKED_MS) {
      this.#isBlocked = false
      return
    }
    if (!this.#isBlocked) this.#post({ kind: 'blocked', ms: lag })
    this.#isBlocked = true
    // The port may hold claims we have not read: they must be known before their flags are judged.
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as ToPulse)
    }
    this.#giveBackUnstarted()
    this.#killIfBeyondDeadlines()
  }

  /** The jobs on places of which `is` holds. */
  #placed(is: (place: number) => boolean): Placed[] {
    return this.#claims.flatMap((claim, place) => {
      if (claim === undefined || !is(place)) return []
      const position = this.#positions[place] as number
      const kind = claim.kinds[claim.kindOf[position] as number] as PlacedKind
      return [{ ...kind, id: claim.ids[position] as string, runId: claim.runId }]
    })
  }

  #giveBackUnstarted(): void {
    const returned = this.#placed((place) => this.#board.takeBack(place))
    if (returned.length === 0) return
    // If this fails, reconciliation finds them once the loop turns again, and the rescuer if it never does.
    this.#returnJobs(returned).catch((error: Error) =>
      this.#post({ kind: 'error', during: 'give back', message: error.message }),
    )
  }

  async #returnJobs(jobs: readonly Placed[]): Promise<void> {
    const session = await this.#connection.session()
    await this.#connection.within(settle(session, null, jobs.map(giveBack)))
    const queues = [...new Set(jobs.map((job) => job.queue))]
    const messages = queues.map((queue) => ({ kind: 'work' as const, queue }))
    await this.#connection.within(notify(session, this.#settings.schema, messages))
  }

  /**
   * A loop blocked since before the deadline of everything it runs, and beyond it, will never finish anything: only the
   * process can end it. Runs whose handler was given up as leaked are not on the board any more.
   */
  #killIfBeyondDeadlines(): void {
    const now = monotonicMs()
    const blockedSince = this.#board.lastBeat()
    const started = this.#placed((place) => this.#board.isStarted(place))
    const isBeyond = ({ stuckAtMs }: Placed): boolean => blockedSince < stuckAtMs && stuckAtMs < now
    if (started.length === 0 || !started.every(isBeyond) || this.#isKilling) return
    this.#isKilling = true
    this.#bury(started).finally(() => process.kill(process.pid, 'SIGKILL'))
  }

  /** Recorded before the process dies: a rescuer could not tell a stuck run from the victim of a crash. */
  async #bury(jobs: readonly Placed[]): Promise<void> {
    const message = 'The run blocked the event loop beyond twice its timeout, so its process was ended.'
    const failure = { ...failureOf('StuckRun', message), logs: null }
    const settlements = jobs.map(({ id, runId, retention }) => ({
      kind: 'bury' as const,
      id,
      runId,
      reason: 'stuck' as const,
      failure,
      retention,
      drop: false,
    }))
    try {
      const session = await this.#connection.session()
      const won = await this.#connection.within(settle(session, null, settlements))
      await this.#tellWorkflows(session, [...won], `stuck: ${message}`)
    } catch {
      // It then runs again, and is buried at the next deadline or the third crash.
    }
  }

  /** Nobody here can carry their workflows on. What fails here is found by the sweep of others. */
  async #tellWorkflows(session: Session, buried: readonly { id: string }[], reason: string): Promise<void> {
    const ended = buried.map(({ id: jobId }) => ({ jobId, status: 'failed' as const, result: null, reason }))
    const workflowIds = await this.#connection.within(workflowSettle(session, ended, { isOwn: true }))
    await this.#connection.within(notifyWorkflows(session, this.#settings.schema, workflowIds))
  }

  async #stop(reason: string): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#beatTimer)
    try {
      const session = this.#worker === undefined ? undefined : this.#connection.current
      if (session !== undefined && this.#worker !== undefined) {
        await this.#connection.within(workerEnd(session, null, this.#worker.id, reason))
      }
      await this.#connection.close()
    } catch {
      // The lease runs out by itself.
    }
    process.exit(0)
  }

  #post(message: FromPulse): void {
    this.#port.postMessage(message)
  }
}

if (parentPort !== null) new PulseThread(parentPort, workerData as PulseSettings)
