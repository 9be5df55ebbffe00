// At most so many of something from one address in a while. Each process counts for itself, and forgets when it restarts.

export interface RateLimitOptions {
  readonly most: number
  readonly perMs: number
}

/** So many addresses are remembered: whoever has thousands of them must not fill the memory. */
const MOST_KEYS = 10_000

export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #times = new Map<string, number[]>()

  constructor(options: RateLimitOptions) {
    this.#options = options
  }

  /** Counts this one too, unless it is refused. */
  allows(key: string, now: Date): boolean {
    const { most, perMs } = this.#options
    const since = now.getTime() - perMs
    const recent = (this.#times.get(key) ?? []).filter((at) => at > since)
    const isAllowed = recent.length < most
    if (isAllowed) recent.push(now.getTime())
    // Last used, last in the map: the first one is the oldest.
    this.#times.delete(key)
    this.#times.set(key, recent)
    const [oldest] = this.#times.keys()
    if (this.#times.size > MOST_KEYS && oldest !== undefined) this.#times.delete(oldest)
    return isAllowed
  }
}
