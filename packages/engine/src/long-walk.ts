// How long to leave out a look that has to walk over what was claimed and not vacuumed: forty times as long as it took, so that
// it takes a fortieth of the time.

/** A walk as short as this need not be any shorter. */
const QUICK_MS = 5
const TIMES_AS_RARE = 40
/** What one walk may take longer than twice the last one. More, and it was something else that took so long. */
const GROWTH_MS = 10

export class LongWalk {
  readonly #maxRestMs: number
  #believedMs = 0

  constructor({ maxRestMs }: { maxRestMs: number }) {
    this.#maxRestMs = maxRestMs
  }

  /** For how long not to walk again. */
  restAfter(walkMs: number): number {
    this.#believedMs = Math.min(walkMs, 2 * this.#believedMs + GROWTH_MS)
    return this.#believedMs < QUICK_MS ? 0 : Math.min(this.#believedMs * TIMES_AS_RARE, this.#maxRestMs)
  }
}

/** Before anything is known. A process that starts beside millions of dead rows knows no quick statement. */
const FIRST_LEAST_MS = 20

/** What statements of one kind take beyond the quickest of them, and beyond what their rows take. */
export class Beyond {
  readonly #msPerRow: number
  #leastMs = FIRST_LEAST_MS

  constructor({ msPerRow }: { msPerRow: number }) {
    this.#msPerRow = msPerRow
  }

  of(tookMs: number, rows: number): number {
    // Below 0 where rows take less than they are reckoned at.
    const restMs = tookMs - rows * this.#msPerRow
    // The quickest of late: what a busy machine cannot do any more is forgotten.
    this.#leastMs = Math.min(restMs, this.#leastMs + Math.abs(this.#leastMs) * 0.01 + 0.01)
    return restMs - this.#leastMs
  }
}
