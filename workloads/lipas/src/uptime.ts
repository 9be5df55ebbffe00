// How long this process has been at work, by its monotonic clock: an upper bound of the worker's own age.

export class Uptime {
  readonly #now: () => number
  #startedAt: number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
  }

  start(): void {
    this.#startedAt = this.#now()
  }

  get ms(): number {
    return this.#now() - this.#startedAt
  }
}
