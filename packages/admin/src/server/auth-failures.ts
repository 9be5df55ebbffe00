// Slows down callers that try tokens. A caller whose token was good lately is not slowed down by others at its address.
import { createHash } from 'node:crypto'
import { Refusal } from './problem.ts'

const WINDOW_MS = 60_000
const MOST_FAILURES = 20
const MOST_SOURCES = 10_000
const MOST_GOOD = 10_000
const GOOD_FOR_MS = 600_000

export class AuthFailures {
  readonly #failures = new Map<string, { count: number; sinceMs: number }>()
  readonly #good = new Map<string, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs
  }

  /** Throws when this source has failed too often within a minute. */
  demandPatience(source: string, secret: string): void {
    const entry = this.#failures.get(source)
    if (entry === undefined || entry.count < MOST_FAILURES) return
    const leftMs = entry.sinceMs + WINDOW_MS - this.#nowMs()
    if (leftMs <= 0) {
      this.#failures.delete(source)
      return
    }
    if ((this.#good.get(digest(secret)) ?? 0) > this.#nowMs()) return
    const retryAfterSeconds = Math.ceil(leftMs / 1_000)
    throw new Refusal(
      429,
      'too_many_failures',
      `Too many tokens from this address were wrong. Try again in ${retryAfterSeconds} s.`,
      { retryAfterSeconds },
    )
  }

  failed(source: string): void {
    const entry = this.#failures.get(source)
    if (entry !== undefined && entry.sinceMs + WINDOW_MS > this.#nowMs()) {
      entry.count++
      return
    }
    bound(this.#failures, MOST_SOURCES)
    this.#failures.set(source, { count: 1, sinceMs: this.#nowMs() })
  }

  succeeded(secret: string): void {
    bound(this.#good, MOST_GOOD)
    this.#good.set(digest(secret), this.#nowMs() + GOOD_FOR_MS)
  }
}

/** The oldest gives way. */
function bound(map: Map<string, unknown>, most: number): void {
  for (const [key] of map) {
    if (map.size < most) return
    map.delete(key)
  }
}

const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64')
