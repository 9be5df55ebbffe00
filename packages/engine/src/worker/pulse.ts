// The main thread's end of the pulse: starts the thread, keeps its side of the board, passes on what it hears.
import { Worker as Thread } from 'node:worker_threads'
import { monotonicMs } from '../clock.ts'
import type { NewWorker } from '../store/workers.ts'
import { Board } from './board.ts'
import type { FromPulse, PulseSettings, ToPulse } from './pulse-protocol.ts'

const MAIN_BEAT_MS = 50
const STOP_DEADLINE_MS = 2_000

export type PulseListener = (message: FromPulse | { kind: 'died'; error: unknown }) => void

export class Pulse {
  readonly board: Board
  readonly #thread: Thread
  readonly #beat: NodeJS.Timeout
  #isStopping = false

  constructor(settings: Omit<PulseSettings, 'board'>, slots: number, listener: PulseListener) {
    this.board = Board.withSlots(slots)
    this.board.beat(monotonicMs())
    this.#beat = setInterval(() => this.board.beat(monotonicMs()), MAIN_BEAT_MS)
    const workerData: PulseSettings = { ...settings, board: this.board.buffer }
    this.#thread = new Thread(new URL('./pulse-thread.js', import.meta.url), { workerData, name: 'millrace-pulse' })
    let failure: unknown
    this.#thread.on('message', listener)
    this.#thread.on('error', (error) => {
      failure = error
    })
    this.#thread.on('exit', () => {
      clearInterval(this.#beat)
      if (!this.#isStopping) listener({ kind: 'died', error: failure })
    })
  }

  /** True while our lease can be relied on: nobody may have taken our runs. */
  isTrusted(): boolean {
    return monotonicMs() < this.board.trustedUntil()
  }

  register(worker: NewWorker): void {
    this.#post({ kind: 'register', worker })
  }

  claimed(runId: string, jobs: { id: string; slot: number; stuckAtMs: number }[]): void {
    this.#post({ kind: 'claimed', runId, jobs })
  }

  async stop(reason: string): Promise<void> {
    this.#isStopping = true
    const exited = new Promise<void>((resolve) => this.#thread.once('exit', () => resolve()))
    this.#post({ kind: 'stop', reason })
    const timer = setTimeout(() => void this.#thread.terminate(), STOP_DEADLINE_MS)
    await exited
    clearTimeout(timer)
    clearInterval(this.#beat)
  }

  #post(message: ToPulse): void {
    this.#thread.postMessage(message)
  }
}
