// A clock that a test moves by hand. Every statement of a client that was given it takes its time from here.
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'

/** Stands still until it is moved: `createMillrace({ clock: fakeClock('2026-01-01T00:00:00Z') })`. */
export function fakeClock(start: Date | string): FakeClock {
  return new FakeClock(start)
}

export class FakeClock implements Clock {
  #nowMs: number
  readonly #listeners = new Set<() => void>()

  constructor(start: Date | string) {
    this.#nowMs = timeOf(start)
  }

  /** For your own code. */
  now(): Date {
    return new Date(this.#nowMs)
  }

  databaseNow(): Date {
    return this.now()
  }

  advance(by: Duration): void {
    this.moveTo(new Date(this.#nowMs + toMs(by, 'clock.advance(by)')))
  }

  /** Only forwards: the engine relies on time that does not go back. */
  moveTo(time: Date | string): void {
    const ms = timeOf(time)
    if (ms < this.#nowMs) {
      throw new InvalidDefinition(
        `The clock stands at ${this.now().toISOString()} and cannot go back to ${new Date(ms).toISOString()}. Start another clock for an earlier time.`,
      )
    }
    this.#nowMs = ms
    for (const listener of this.#listeners) listener()
  }

  onMoved(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

function timeOf(time: Date | string): number {
  const ms = new Date(time).getTime()
  if (Number.isNaN(ms)) {
    throw new InvalidDefinition(`"${time}" is not a time. Use a Date, or text like '2026-01-01T00:00:00Z'.`)
  }
  return ms
}
