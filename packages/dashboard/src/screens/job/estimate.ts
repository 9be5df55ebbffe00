// When a waiting job may start, by what ended in its queue lately. The same reckoning as the server's.
import type { Answer } from '../../data/queries.ts'

export type Explanation = Answer<'jobs', 'explain'>
export type Ahead = NonNullable<Explanation['ahead']>

const PACE_MS = 300_000

/** Milliseconds until its turn, if nothing but the queue holds it and `own` jobs of its tenant come first; null: nothing ended lately. */
export function turnMs({ others, ended }: Ahead, own: number): number | null {
  if (own === 0 && others.length === 0) return 0
  if (ended === 0) return null
  // Tenants take turns: of the jobs of others as many come first as of its own.
  const before = others.reduce((sum, [, jobs]) => sum + Math.min(jobs, own + 1), own)
  return (before / ended) * PACE_MS
}

const FREED_BY_RUNS = new Set(['share', 'limit', 'key_limit', 'semaphore'])

/** Whether all that holds it ends by itself, with the runs that have its place now. */
export const isFreedByRuns = ({ reasons }: Explanation): boolean =>
  reasons.length > 0 && reasons.every(({ mechanism, until }) => until === null && FREED_BY_RUNS.has(mechanism))

/** Until so many runs have ended, if they go on as in the span; null: none has. */
export const paceMs = ({ before, runs, spanMs }: { before: number; runs: number; spanMs: number }): number | null =>
  runs === 0 ? null : (before / runs) * spanMs
