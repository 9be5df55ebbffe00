// The main thread's end of the pulse: starts the thread, keeps its side of the board, passes on what it hears.
import { Worker as Thread } from 'node:worker_threads'
import { monotonicMs, within } from '../clock.ts'
import type { NewWorker } from '../store/workers.ts'
import { Board } from './board.ts'
import type { FromPulse, PlacedJobs, PulseSettings, ToPulse } from './pulse-protocol.ts'

const MAIN_BEAT_MS = 50
const STOP_DEADLINE_MS = 2_000
const RESPAWN_MS = 1_000

export type PulseListener = (message: FromPulse | { kind: 'died'; error: unknown }) => void

export class Pulse {
  readonly board: Board
  readonly #settings: PulseSettings
  readonly #listener: PulseListener
  readonly #beat: NodeJS.Timeout
  #thread: Thread
  #isStopping = false
  #stopped: Promise<void> | undefined

  constructor(settings: Omit<PulseSettings, 'board'>, places: number, listener: PulseListener) {
    this.board = Board.withPlaces(places)
    this.board.beat(monotonicMs())
    this.#settings = { ...settings, board: this.board.buffer }
    this.#listener = listener
    this.#thread = this.#spawn()
    this.#beat = setInterval(() => this.board.beat(monotonicMs()), MAIN_BEAT_MS)
  }

  /** True while our lease can be relied on: nobody may have taken our runs. */
  isTrusted(): boolean {
    return monotonicMs() < this.board.trustedUntil()
  }

  register(worker: NewWorker): void {
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
    const exited = new Promise<void>((resolve) => this.#thread.once('exit', () => resolve()))
    this.#post({ kind: 'stop', reason })
    await within(STOP_DEADLINE_MS, exited)
    await this.#thread.terminate()
  }

  #spawn(): Thread {
    const url = new URL('./pulse-thread.js', import.meta.url)
    const thread = new Thread(url, { workerData: this.#settings, name: 'millrace-pulse' })
    let failure: unknown
    thread.on('message', this.#listener)
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
        this.#listener({ kind: 'died', error: failure })
      }, RESPAWN_MS)
    })
    return thread
  }

  #post(message: ToPulse): void {
    this.#thread.postMessage(message)
  }
}
