import { monotonicMs } from '../clock.ts'

const WINDOW_MS = 1_000
/** Far more than Postgres can deliver of what Millrace sends, and little enough to be read in a fraction of the window. */
const MAX_PER_WINDOW = 50_000
/** So many characters of a message count as another message. */
const LONG = 64

/** Notices when more messages arrive on a channel than any well-meaning sender sends. */
export class Flood {
  #windowEndMs = Number.NEGATIVE_INFINITY
  #count = 0

  /** Counts this message; true when there are too many. */
  rises(payload: string): boolean {
    const now = monotonicMs()
    if (now >= this.#windowEndMs) {
      this.#windowEndMs = now + WINDOW_MS
      this.#count = 0
    }
    this.#count += 1 + Math.floor(payload.length / LONG)
    return this.#count > MAX_PER_WINDOW
  }
}
