// Starts things one after the other and, when asked to stop or on a failure, stops what was started in reverse order.
import type { Logger } from 'millrace'
import { type StopRequests, stopSignals } from './signals.ts'

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
  readonly #requests: StopRequests
  readonly #stops: { name: string; stop(): Promise<void> }[] = []
  readonly #asked: Promise<void>
  #askToStop: () => void = () => {}
  #phase: Phase = { kind: 'starting', part: 'process' }

  constructor(logger: Logger, requests: StopRequests = stopSignals(logger)) {
    this.#logger = logger
    this.#requests = requests
    this.#asked = new Promise((resolve) => {
      this.#askToStop = resolve
    })
  }

  /** Asks to stop in order, as a signal does. */
  stop(): void {
    this.#phase = { kind: 'stopping' }
    this.#askToStop()
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

  /**
   * Runs `start`, then waits until it is asked to stop, then stops everything. Rejects with the error of a start that
   * failed, or that of `failed`, when everything has stopped.
   */
  async run(start: () => Promise<void>, failed?: Promise<never>): Promise<void> {
    this.#requests(() => this.stop())
    try {
      await start()
      this.#throwIfStopping()
      this.#phase = { kind: 'running' }
      await Promise.race(failed === undefined ? [this.#asked] : [this.#asked, failed])
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
