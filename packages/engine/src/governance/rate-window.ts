// How much was started lately under a rate, and how much more may be. Exact as a bound: in no stretch of the rate's
// period is more started than it allows.
//
// Starts are remembered in parts of a thirtieth of the period, and a part counts until all of it lies a period back. So
// what is forgotten was certainly too long ago; what is remembered may be a thirtieth longer than need be.
import type { Rate } from '../contract/limit.ts'

const PARTS = 30

/** [end of the part in ms, cost], oldest first: as stored. */
export type Starts = readonly (readonly [endMs: number, cost: number])[]

export class RateWindow {
  readonly #rate: Rate
  readonly #nowMs: number
  #starts: [number, number][]
  #used: number

  constructor(rate: Rate, starts: Starts, nowMs: number) {
    this.#rate = rate
    this.#nowMs = nowMs
    this.#starts = starts.filter(([endMs]) => endMs > nowMs - rate.perMs).map(([endMs, cost]) => [endMs, cost])
    this.#used = this.#starts.reduce((sum, [, cost]) => sum + cost, 0)
  }

  get starts(): Starts {
    return this.#starts
  }

  /** How much may be started now. */
  get room(): number {
    return Math.max(0, this.#rate.jobs - this.#used)
  }

  /** A job that costs more than the rate ever allows is started alone in its period. */
  isRoomFor(cost: number): boolean {
    return this.#costOf(cost) <= this.room && this.#rate.jobs > 0
  }

  /** Only what there is room for. */
  take(cost: number): void {
    const partMs = this.#rate.perMs / PARTS
    const endMs = (Math.floor(this.#nowMs / partMs) + 1) * partMs
    const last = this.#starts.at(-1)
    const counted = this.#costOf(cost)
    if (last !== undefined && last[0] >= endMs) last[1] += counted
    else this.#starts.push([endMs, counted])
    this.#used += counted
  }

  /** Milliseconds until a job of this cost may be started, if nothing else is; infinite if the rate allows nothing. */
  waitFor(cost: number): number {
    if (this.#rate.jobs <= 0) return Number.POSITIVE_INFINITY
    let missing = this.#costOf(cost) - this.room
    for (const [endMs, part] of this.#starts) {
      if (missing <= 0) break
      missing -= part
      if (missing <= 0) return Math.max(0, endMs + this.#rate.perMs - this.#nowMs)
    }
    return 0
  }

  #costOf(cost: number): number {
    return Math.min(cost, this.#rate.jobs)
  }
}
