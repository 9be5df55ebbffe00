// The main thread's end of the pulse: starts the thread, keeps its side of the board, passes on what it hears.
import { Worker as Thread } from 'node:worker_threads'
import type { ClientConfig } from 'pg'
import { monotonicMs, within } from '../clock.ts'
import { passwordOf, sentConnection } from '../store/connection-config.ts'
import type { NewWorker } from '../store/workers.ts'
import { Board } from './board.ts'
import {
  type FromPulse,
  MAIN_BEAT_MS,
  type PlacedJobs,
  type PulseSettings,
  type ToPulse,
  trustMarginMs,
} from './pulse-protocol.ts'
import type { OwnReport } from './reporter.ts'

/** How often a report is made for the heartbeat that comes next. */
const REPORT_MS = 1_000
const STOP_DEADLINE_MS = 2_000
const RESPAWN_MS = 1_000

export type PulseNews = Exclude<FromPulse, { kind: 'password' }> | { kind: 'died'; error: unknown }
export type PulseListener = (message: PulseNews) => void
export type PulseOptions = Omit<PulseSettings, 'board' | 'connection'> & { connection: ClientConfig }

export interface PulseEnds {
  onMessage: PulseListener
  /** Asked from the first registration on. */
  report(): OwnReport
}

export class Pulse {
  readonly board: Board
  readonly #settings: PulseSettings
  readonly #connection: ClientConfig
  readonly #ends: PulseEnds
  readonly #beat: NodeJS.Timeout
  #reports: NodeJS.Timeout | undefined
  #beatAtMs = monotonicMs()
  #loopLagMs = 0
  #thread: Thread
  #isStopping = false
  #stopped: Promise<void> | undefined

  constructor({ connection, ...settings }: PulseOptions, places: number, ends: PulseEnds) {
    this.board = Board.withPlaces(places)
    this.board.beat(this.#beatAtMs)
    this.#connection = connection
    this.#settings = { ...settings, connection: sentConnection(connection), board: this.board.buffer }
    this.#ends = ends
    this.#thread = this.#spawn()
    this.#beat = setInterval(() => this.#turned(), MAIN_BEAT_MS)
  }

  /** True while our lease can be relied on: nobody may have taken our runs. */
  isTrusted(): boolean {
    return monotonicMs() < this.board.trustedUntil()
  }

  /** When the last heartbeat was sent that the database has answered; undefined: none was. */
  beatAtMs(): number | undefined {
    const { times } = this.#settings
    const trustedUntil = this.board.trustedUntil()
    return trustedUntil === 0 ? undefined : trustedUntil - times.ttlMs + trustMarginMs(times)
  }

  register(worker: NewWorker): void {
    this.#report()
    this.#reports ??= setInterval(() => this.#report(), Math.min(REPORT_MS, this.#settings.times.heartbeatMs))
    this.#post({ kind: 'register', worker })
  }

  claimed(jobs: PlacedJobs): void {
    this.#post({ kind: 'claimed', jobs })
  }

  stop(reason: string): Promise<void> {
    this.#stopped ??= this.#stop(reason)
    return this.#stopped
  }

  async #stop(reason: string): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#beat)
    clearInterval(this.#reports)
    const exited = new Promise<void>((resolve) => this.#thread.once('exit', () => resolve()))
    this.#post({ kind: 'stop', reason })
    await within(STOP_DEADLINE_MS, exited)
    await this.#thread.terminate()
  }

  #turned(): void {
    const now = monotonicMs()
    this.#loopLagMs = Math.max(this.#loopLagMs, now - this.#beatAtMs - MAIN_BEAT_MS)
    this.#beatAtMs = now
    this.board.beat(now)
  }

  #report(): void {
    const loopLagMs = Math.round(this.#loopLagMs)
    this.#loopLagMs = 0
    this.#post({ kind: 'report', report: { ...this.#ends.report(), loopLagMs } })
  }

  #spawn(): Thread {
    const url = new URL('./pulse-thread.js', import.meta.url)
    const thread = new Thread(url, { workerData: this.#settings, name: 'millrace-pulse' })
    let failure: unknown
    thread.on('message', (message: FromPulse) => {
      if (message.kind === 'password') void this.#tellPassword(thread)
      else this.#ends.onMessage(message)
    })
    thread.on('error', (error) => {
      failure = error
    })
    thread.on('exit', () => {
      if (this.#isStopping) return
      // A dead thread is a lost lease. The next one starts under a new worker id, and not in a hot loop.
      this.board.trustUntil(0)
      setTimeout(() => {
        if (this.#isStopping) return
        this.#thread = this.#spawn()
        this.#ends.onMessage({ kind: 'died', error: failure })
      }, RESPAWN_MS)
    })
    return thread
  }

  async #tellPassword(thread: Thread): Promise<void> {
    const answer = await passwordOf(this.#connection).then(
      (password): ToPulse => ({ kind: 'password', password }),
      (error): ToPulse => ({ kind: 'no-password', problem: `the password function failed: ${error}` }),
    )
    thread.postMessage(answer)
  }

  #post(message: ToPulse): void {
    this.#thread.postMessage(message)
  }
}
