// This process's lease: who we are to the database, and whether we may still believe it.
//
// The pulse thread renews it. Trust ends some time before the lease does, counted from before the renewal was sent.
// Losing it is one-way: the old id is gone, and work goes on under a new one.
import { randomUUID } from 'node:crypto'
import { monotonicMs } from '../clock.ts'
import { WorkerStopping } from '../errors.ts'
import type { Message } from '../store/notifications.ts'
import type { RunningRow } from '../store/running-jobs.ts'
import type { NewWorker, WorkerRequest } from '../store/workers.ts'
import type { Board } from './board.ts'
import { Pulse, type PulseNews, type PulseOptions } from './pulse.ts'
import type { IgnoredBecause, PlacedJobs } from './pulse-protocol.ts'
import type { OwnReport } from './reporter.ts'

const WATCH_MS = 200

export interface LeaseEvents {
  /** What the worker says about itself with its heartbeat. */
  report(): OwnReport
  /** What operators ask of this worker has changed; null: nothing is asked any more. */
  onAsked(request: WorkerRequest | null): void
  /** Ended by somebody else, or with the thread that renewed it. */
  onLost(workerId: string, why: string): void
  /** Not renewed in time: nobody knows who owns our runs. */
  onDoubt(): void
  /** Trusted (again). */
  onTrusted(): void
  onRunning(rows: RunningRow[], sentAtMs: number): void
  /** What other processes have said. */
  onHeard(message: Message): void
  onIgnored(count: number, why: IgnoredBecause): void
  onListening(isTrusted: boolean): void
  onBlocked(ms: number): void
  onError(during: string, error: unknown): void
  /** A few times a second. */
  onWatch(): void
}

export class Lease {
  readonly #pulse: Pulse
  readonly #worker: Omit<NewWorker, 'id'>
  readonly #events: LeaseEvents
  #id = randomUUID()
  /** The last id under which there was a lease. */
  #formerId: string | undefined
  #waiting: { resolve: () => void; reject: (error: unknown) => void } | undefined
  #isRegistered = false
  #isEnding = false
  #wasTrusted = false
  #trustedSinceMs = Number.POSITIVE_INFINITY
  #watch: NodeJS.Timeout | undefined

  constructor(settings: PulseOptions, worker: Omit<NewWorker, 'id'>, places: number, events: LeaseEvents) {
    this.#worker = worker
    this.#events = events
    this.#pulse = new Pulse(settings, places, {
      onMessage: (message) => this.#hear(message),
      report: () => events.report(),
    })
  }

  get id(): string {
    return this.#id
  }

  get board(): Board {
    return this.#pulse.board
  }

  /** Nobody may have taken our runs. */
  isTrusted(): boolean {
    return this.#isRegistered && this.#pulse.isTrusted()
  }

  /** When the last renewal was sent, on the monotonic clock; undefined: there is no lease. */
  beatAtMs(): number | undefined {
    return this.#isRegistered ? this.#pulse.beatAtMs() : undefined
  }

  /** For how long it has been trusted without a gap. */
  heldMs(): number {
    return this.isTrusted() ? monotonicMs() - this.#trustedSinceMs : 0
  }

  /** Takes out the lease. Rejects if the database refuses, the thread dies, or it is ended meanwhile. */
  async take(): Promise<void> {
    if (this.#isEnding) throw new WorkerStopping()
    const registered = new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    this.#register()
    await registered
    if (this.#isEnding) throw new WorkerStopping()
    this.#watch = setInterval(() => this.#watchOver(), WATCH_MS)
  }

  announce(jobs: PlacedJobs): void {
    this.#pulse.claimed(jobs)
  }

  async end(reason: string): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#watch)
    this.#waiting?.reject(new WorkerStopping())
    await this.#pulse.stop(reason)
  }

  #register(): void {
    this.#pulse.register({ ...this.#worker, id: this.#id, formerId: this.#formerId })
  }

  #hear(message: PulseNews): void {
    switch (message.kind) {
      case 'registered':
        if (message.workerId === this.#id) this.#registered()
        break
      case 'running':
        if (message.workerId === this.#id) this.#events.onRunning(message.rows, message.sentAtMs)
        break
      case 'asked':
        if (message.workerId === this.#id) this.#events.onAsked(message.request)
        break
      case 'lost':
        if (message.workerId === this.#id) this.#lose('it was ended by a rescuer')
        break
      case 'heard':
        for (const each of message.messages) this.#events.onHeard(each)
        break
      case 'ignored':
        this.#events.onIgnored(message.count, message.why)
        break
      case 'listening':
        this.#events.onListening(message.isTrusted)
        break
      case 'blocked':
        this.#events.onBlocked(message.ms)
        break
      case 'error':
        this.#failed(message.during, new Error(message.message))
        break
      case 'died':
        this.#failed('pulse thread', message.error)
        this.#lose('the pulse thread died')
        break
    }
  }

  #registered(): void {
    this.#isRegistered = true
    this.#formerId = this.#id
    this.#waiting?.resolve()
    this.#waiting = undefined
    this.#watchOver()
  }

  /** Before the first registration there is somebody to tell; afterwards it is tried again and again. */
  #failed(during: string, error: unknown): void {
    this.#events.onError(during, error)
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  #lose(why: string): void {
    const lost = this.#id
    this.#id = randomUUID()
    this.#isRegistered = false
    this.#wasTrusted = false
    this.#trustedSinceMs = Number.POSITIVE_INFINITY
    this.#events.onLost(lost, why)
    if (!this.#isEnding) this.#register()
  }

  #watchOver(): void {
    const isTrusted = this.isTrusted()
    if (isTrusted && !this.#wasTrusted) {
      this.#trustedSinceMs = monotonicMs()
      this.#events.onTrusted()
    }
    if (!isTrusted && this.#wasTrusted) this.#events.onDoubt()
    this.#wasTrusted = isTrusted
    this.#events.onWatch()
  }
}
