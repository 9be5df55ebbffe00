// Watches the main thread's event loop from outside it, in the pulse thread.
//
// A loop that is blocked gets the jobs taken away that it has not started. One that is blocked beyond the deadline of
// everything it runs will never end by itself: what it runs is recorded as stuck, and the process is killed.
import { monotonicMs } from '../clock.ts'
import { failureOf } from '../failure.ts'
import type { Session } from '../store/db.ts'
import { notify, notifyWorkflows } from '../store/notifications.ts'
import { giveBack, settle } from '../store/settlements.ts'
import { workflowSettle } from '../store/workflow-items.ts'
import type { Board } from './board.ts'
import type { Placed, Placements } from './placements.ts'
import type { PulseConnection } from './pulse-connection.ts'
import type { FromPulse } from './pulse-protocol.ts'

/** A loop that has not turned for this long is blocked: what it has not started is given back. */
const BLOCKED_MS = 1_000

export interface WatchdogServices {
  schema: string
  board: Board
  placements: Placements
  connection: PulseConnection
  /** The main thread may have told of claims that were not heard: they must be known before their flags are judged. */
  hearAll(): void
  post(message: FromPulse): void
}

export class Watchdog {
  readonly #services: WatchdogServices
  #isBlocked = false
  #isKilling = false

  constructor(services: WatchdogServices) {
    this.#services = services
  }

  /** Called several times in BLOCKED_MS. */
  watch(): void {
    const { board, hearAll, post } = this.#services
    const lag = monotonicMs() - board.lastBeat()
    if (lag < BLOCKED_MS) {
      this.#isBlocked = false
      return
    }
    if (!this.#isBlocked) post({ kind: 'blocked', ms: lag })
    this.#isBlocked = true
    hearAll()
    this.#giveBackUnstarted()
    this.#killIfBeyondDeadlines()
  }

  #giveBackUnstarted(): void {
    const { board, placements, post } = this.#services
    const returned = placements.where((place) => board.takeBack(place))
    if (returned.length === 0) return
    // If this fails, reconciliation finds them once the loop turns again, and the rescuer if it never does.
    this.#returnJobs(returned).catch((error: Error) =>
      post({ kind: 'error', during: 'give back', message: error.message }),
    )
  }

  async #returnJobs(jobs: readonly Placed[]): Promise<void> {
    const { connection, schema } = this.#services
    const session = await connection.session()
    await connection.within(settle(session, null, jobs.map(giveBack)))
    const queues = [...new Set(jobs.map((job) => job.queue))]
    const messages = queues.map((queue) => ({ kind: 'work' as const, queue }))
    await connection.within(notify(session, schema, messages))
  }

  /**
   * A loop blocked since before the deadline of everything it runs, and beyond it, will never finish anything: only the
   * process can end it. Runs whose handler was given up as leaked are not on the board any more.
   */
  #killIfBeyondDeadlines(): void {
    const { board, placements } = this.#services
    const now = monotonicMs()
    const blockedSince = board.lastBeat()
    const started = placements.where((place) => board.isStarted(place))
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
    const { connection } = this.#services
    try {
      const session = await connection.session()
      const { won } = await connection.within(settle(session, null, settlements))
      await this.#tellWorkflows(session, [...won], `stuck: ${message}`)
    } catch {
      // It then runs again, and is buried at the next deadline or the third crash.
    }
  }

  /** Nobody here can carry their workflows on. What fails here is found by the sweep of others. */
  async #tellWorkflows(session: Session, buried: readonly { id: string }[], reason: string): Promise<void> {
    const ended = buried.map(({ id: jobId }) => ({ jobId, status: 'failed' as const, result: null, reason }))
    const { connection, schema } = this.#services
    const due = await connection.within(workflowSettle(session, ended, { isOwn: true }))
    const workflowIds = due.map(({ id }) => id)
    await connection.within(notifyWorkflows(session, schema, workflowIds))
  }
}
