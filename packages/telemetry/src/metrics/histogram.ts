// Counts durations in buckets, and keeps the last exemplar of each.

import { boundText } from './exposition.ts'
import type { Exemplar, Labels, Sample } from './family.ts'

/** Seconds: from a trivial job to one of an hour. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]
const TEXTS = [...BOUNDS.map(boundText), '+Inf']

export class Histogram {
  readonly #counts: number[] = new Array(TEXTS.length).fill(0)
  readonly #exemplars: (Exemplar | undefined)[] = []
  #sum = 0

  observe(seconds: number, traceId?: string): void {
    let bucket = 0
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += seconds
    if (traceId === undefined) return
    this.#exemplars[bucket] = { labels: { trace_id: traceId }, value: seconds, timestamp: Date.now() / 1_000 }
  }

  samples(labels: Labels): Sample[] {
    let below = 0
    const buckets = TEXTS.map((le, i): Sample => {
      below += this.#counts[i] as number
      const exemplar = this.#exemplars[i]
      const bucket = { suffix: '_bucket', labels: { ...labels, le }, value: below }
      return exemplar === undefined ? bucket : { ...bucket, exemplar }
    })
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: below }]
  }
}
