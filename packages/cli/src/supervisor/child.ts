// One worker process, as its supervisor sees it.
import type { ChildProcess } from 'node:child_process'
import type { Snapshot } from '@millrace/telemetry'
import { type Condition, METRICS_REQUEST, reportIn, type StartFailure } from './messages.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export type ChildState = 'starting' | 'ready' | 'not ready' | 'stopping'

export class Child {
  /** When the process is gone, however it went. */
  readonly ended: Promise<Exit>
  /** True as soon as it is ready, false if it ended before. */
  readonly becameReady: Promise<boolean>
  readonly #process: ChildProcess
  readonly #startedAt = performance.now()
  #condition: Condition = { isReady: false, workerId: null }
  #readyAt: number | undefined
  #failure: StartFailure | undefined
  #isAsked = false
  #isLeaving = false
  #lastMetrics: Snapshot = []
  #onMetrics: (() => void)[] = []

  constructor(process: ChildProcess) {
    this.#process = process
    this.ended = exitOf(process)
    const ready = new Promise<boolean>((resolve) => {
      process.on('message', (message) => this.#hear(message, () => resolve(true)))
    })
    this.becameReady = Promise.race([ready, this.ended.then(() => false)])
  }

  get pid(): number | null {
    return this.#process.pid ?? null
  }

  get workerId(): string | null {
    return this.#condition.workerId
  }

  get state(): ChildState {
    if (this.#isAsked || this.#isLeaving) return 'stopping'
    if (this.#readyAt === undefined) return 'starting'
    return this.#condition.isReady ? 'ready' : 'not ready'
  }

  /** What it said about a start that failed. */
  get failure(): StartFailure | undefined {
    return this.#failure
  }

  /** Its end was wanted. */
  get isAsked(): boolean {
    return this.#isAsked
  }

  /** An operator asked its worker to stop. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  get hasBeenReady(): boolean {
    return this.#readyAt !== undefined
  }

  get ranMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  get workedMs(): number {
    return this.#readyAt === undefined ? 0 : performance.now() - this.#readyAt
  }

  /** What it last sent of its metrics. */
  get lastMetrics(): Snapshot {
    return this.#lastMetrics
  }

  /** Its metrics as they are now, or, if it does not answer in time, as it sent them last. */
  async metrics(withinMs: number): Promise<Snapshot> {
    if (!this.#process.connected) return this.#lastMetrics
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#onMetrics.push(() => {
        clearTimeout(timer)
        resolve()
      })
      this.#process.send(METRICS_REQUEST, () => {})
    })
    return this.#lastMetrics
  }

  /** Asks it to stop, and kills it if it has not ended by then. */
  async stop(withinMs: number): Promise<void> {
    if (!this.#isAsked) {
      this.#isAsked = true
      this.#process.kill('SIGTERM')
      const timer = setTimeout(() => this.#process.kill('SIGKILL'), withinMs)
      void this.ended.then(() => clearTimeout(timer))
    }
    await this.ended
  }

  async kill(): Promise<void> {
    this.#isAsked = true
    this.#process.kill('SIGKILL')
    await this.ended
  }

  #hear(message: unknown, becameReady: () => void): void {
    const report = reportIn(message)
    if (report === undefined) return
    if ('startFailure' in report) {
      this.#failure = report.startFailure
      return
    }
    if ('metrics' in report) {
      this.#lastMetrics = report.metrics
      for (const heard of this.#onMetrics.splice(0)) heard()
      return
    }
    if ('isLeaving' in report) {
      this.#isLeaving = true
      return
    }
    this.#condition = report.condition
    if (!report.condition.isReady || this.#readyAt !== undefined) return
    this.#readyAt = performance.now()
    becameReady()
  }
}

/** The exit can be known before the last message was read; the end of the channel comes after it. */
const LAST_WORDS_MS = 250

function exitOf(process: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    process.once('exit', (code, signal) => {
      if (!process.connected) return resolve({ code, signal })
      const timer = setTimeout(() => resolve({ code, signal }), LAST_WORDS_MS)
      process.once('disconnect', () => {
        clearTimeout(timer)
        resolve({ code, signal })
      })
    })
    // Without a pid it never came to life. Otherwise a signal or message did not get through, and the exit tells the rest.
    process.on('error', () => process.pid === undefined && resolve({ code: null, signal: null }))
  })
}
