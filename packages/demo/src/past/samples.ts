// How the queues stood, minute by minute, as the workers would have written it down: from the jobs that still wait.
import type { PastRow } from 'millrace/testing'
import { time } from './rows.ts'

const MINUTE_MS = 60_000
/** Longer than any of them has waited. */
const SPAN_MINUTES = 24 * 60

export interface Waited {
  readonly queue: string
  /** Due since then. */
  readonly at: number
}

/** A row for each minute; a queue in which nothing waited is left out of it. */
export function sampleRows(waited: readonly Waited[], now: number): PastRow[] {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS - MINUTE_MS
  return Array.from({ length: SPAN_MINUTES }, (_, index) => sampleAt(waited, last - index * MINUTE_MS))
}

function sampleAt(waited: readonly Waited[], minute: number): PastRow {
  const queues = new Map<string, { count: number; oldest: number }>()
  for (const { queue, at } of waited) {
    if (at > minute) continue
    const { count, oldest } = queues.get(queue) ?? { count: 0, oldest: at }
    queues.set(queue, { count: count + 1, oldest: Math.min(oldest, at) })
  }
  const counts = [...queues.values()].map(({ count }) => count)
  return {
    minute: time(minute),
    queues: [...queues.keys()],
    waiting: counts,
    due: counts,
    running: counts.map(() => 0),
    oldest_due_ms: [...queues.values()].map(({ oldest }) => minute - oldest),
  }
}
