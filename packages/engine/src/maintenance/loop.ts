// The one loop behind every background service.

export interface Ticker<Result> {
  readonly name: string
  /** One pass. Safe to run twice, safe to be cut off anywhere. One that may take long ends when told to stop. */
  tick(stopping?: AbortSignal): Promise<Result>
  /** How long to sleep after that pass; 0 means there is more to do now. */
  delayAfter(result: Result): number
  /** It has to be there at a certain time: it sleeps as long as it says, neither longer nor shorter. */
  readonly isExact?: boolean
  /** The first pass comes so long after the start. Default: at once. */
  readonly firstAfterMs?: number
  /** Resolves when nothing is left of what passes have begun and not waited for. */
  idle?(): Promise<void>
}

export interface LoopOptions {
  onError(during: string, error: unknown): void
  /** How long to sleep after a pass that failed. */
  errorDelayMs?: number
}

/** Runs a ticker again and again. Starting twice and stopping twice are harmless; stop waits for what is under way. */
export class Loop<Result> {
  readonly #ticker: Ticker<Result>
  readonly #options: LoopOptions
  #running: Promise<void> | undefined
  #stopping = new AbortController()
  #wake: (() => void) | undefined
  #isWoken = false

  constructor(ticker: Ticker<Result>, options: LoopOptions) {
    this.#ticker = ticker
    this.#options = options
  }

  start(): void {
    if (this.#running !== undefined) return
    this.#stopping = new AbortController()
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake?.()
    await this.#running
    await this.#ticker.idle?.()
    this.#running = undefined
  }

  /** There is something to do: the next pass begins at once, or right after the one under way. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    if (this.#ticker.firstAfterMs !== undefined) await this.#sleep(this.#ticker.firstAfterMs)
    while (!signal.aborted) {
      let delay = this.#options.errorDelayMs ?? 5_000
      this.#isWoken = false
      try {
        delay = this.#ticker.delayAfter(await this.#ticker.tick(signal))
      } catch (error) {
        this.#options.onError(this.#ticker.name, error)
      }
      await this.#sleep(this.#ticker.isExact ? delay : jittered(delay))
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#stopping.signal.aborted || this.#isWoken || ms <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** ±10 %, so that many processes do not come at the same moment. */
const jittered = (ms: number): number => ms * (0.9 + Math.random() * 0.2)
