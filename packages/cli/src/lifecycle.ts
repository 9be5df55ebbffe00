// Starts things one after the other and, on a signal or a failure, stops what was started in reverse order.
import type { Logger } from 'millrace'

export interface Part<Thing> {
  readonly name: string
  begin(): Promise<Thing>
  end(thing: Thing): Promise<void>
}

export type Phase = { readonly kind: 'starting'; readonly part: string } | { readonly kind: 'running' | 'stopping' }

/** The start was cut short by a signal: not a failure. */
class Interrupted extends Error {}

export class Lifecycle {
  readonly #logger: Logger
  readonly #stops: { name: string; stop(): Promise<void> }[] = []
  #phase: Phase = { kind: 'starting', part: 'process' }

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get phase(): Phase {
    return this.#phase
  }

  /** Begins a part, which ends with the process. A signal that came meanwhile ends the start here. */
  async start<Thing>(part: Part<Thing>): Promise<Thing> {
    this.#throwIfStopping()
    this.#phase = { kind: 'starting', part: part.name }
    const thing = await part.begin()
    this.#stops.push({ name: part.name, stop: () => part.end(thing) })
    this.#throwIfStopping()
    return thing
  }

  /** Runs `start`, then waits for a signal, then stops everything. Rejects with the error of a start that failed. */
  async run(start: () => Promise<void>): Promise<void> {
    const signal = firstSignal(this.#logger, () => {
      this.#phase = { kind: 'stopping' }
    })
    try {
      await start()
      this.#throwIfStopping()
      this.#phase = { kind: 'running' }
      await signal
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
    } finally {
      this.#phase = { kind: 'stopping' }
      await this.#stopAll()
    }
  }

  async #stopAll(): Promise<void> {
    for (const { name, stop } of this.#stops.splice(0).reverse()) {
      this.#logger.debug({}, `stopping the ${name}`)
      // Whatever one part says, the others are stopped too.
      await stop().catch((error: unknown) =>
        this.#logger.error({ err: error }, `the ${name} could not be stopped in order`),
      )
    }
  }

  #throwIfStopping(): void {
    if (this.#phase.kind === 'stopping') throw new Interrupted()
  }
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** npm passes on the Ctrl-C that the terminal has sent us already: two signals within this time are one key press. */
const ECHO_MS = process.env.npm_lifecycle_event === undefined ? 0 : 300

/** Resolves with the first SIGINT or SIGTERM; another one ends the process at once. */
function firstSignal(logger: Logger, onFirst: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const hear = (signal: keyof typeof EXIT_CODES) => {
      if (firstAt === undefined) {
        firstAt = Date.now()
        logger.info({ signal }, 'stopping; once more to stop at once')
        onFirst()
        resolve()
      } else if (Date.now() - firstAt >= ECHO_MS) {
        logger.warn({ signal }, 'stopped at once: jobs that were running will be rescued, an embedded database runs on')
        process.exit(EXIT_CODES[signal])
      }
    }
    process.on('SIGINT', hear)
    process.on('SIGTERM', hear)
  })
}
