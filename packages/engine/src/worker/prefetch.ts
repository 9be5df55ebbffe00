// How many jobs may be claimed beyond the free slots: about 50 ms of work, judged by how long the types took lately.
//
// Nothing is prefetched while any type that has run here has shown fewer than 20 times how long it takes: a slow job
// stays in the database, where another process with a free slot can have it.
import type { Lane } from './lane.ts'

const SAMPLES = 64
const MIN_SAMPLES = 20
const TARGET_MS = 50
export const MAX_PREFETCH = 2_000
const PAUSE_MS = 5_000

class Durations {
  readonly #ring = new Float64Array(SAMPLES)
  #count = 0
  #p95 = Number.POSITIVE_INFINITY

  add(ms: number): void {
    this.#ring[this.#count++ % SAMPLES] = ms
    if (this.#count < MIN_SAMPLES || (this.#count > SAMPLES && this.#count % 16 !== 0)) return
    const sorted = this.#ring.slice(0, Math.min(this.#count, SAMPLES)).sort()
    this.#p95 = sorted[Math.floor(sorted.length * 0.95)] as number
  }

  get p95(): number {
    return this.#p95
  }
}

export class Prefetch {
  readonly #durations = new Map<string, Durations>()
  readonly #typesOf = new Map<Lane, Set<string>>()
  readonly #pausedUntil = new Map<Lane, number>()

  record(lane: Lane, type: string, ms: number): void {
    let types = this.#typesOf.get(lane)
    if (types === undefined) {
      types = new Set()
      this.#typesOf.set(lane, types)
    }
    types.add(type)
    let durations = this.#durations.get(type)
    if (durations === undefined) {
      durations = new Durations()
      this.#durations.set(type, durations)
    }
    durations.add(ms)
  }

  /** Jobs were given back because they waited too long: do without for a while. */
  pause(lane: Lane, nowMs: number): void {
    this.#pausedUntil.set(lane, nowMs + PAUSE_MS)
  }

  allowance(lane: Lane, nowMs: number): number {
    const types = this.#typesOf.get(lane)
    if (types === undefined || nowMs < (this.#pausedUntil.get(lane) ?? 0)) return 0
    let slowest = 0
    for (const type of types) slowest = Math.max(slowest, this.#durations.get(type)?.p95 ?? Number.POSITIVE_INFINITY)
    return Math.min(MAX_PREFETCH, Math.floor((lane.slots * TARGET_MS) / Math.max(slowest, 0.05)))
  }
}
