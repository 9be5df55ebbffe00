// What counts of runs say: how many ended in which way, how often they failed, and how long they took and waited.
import { addTo, percentileMs } from '../histogram.ts'
import type { RunCounts, RunOutcome } from '../store/metrics.ts'

/** Null: nothing was measured. Percentiles are read from a histogram with two buckets for each doubling. */
export interface Spread {
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export interface RunSummary extends Readonly<Record<RunOutcome, number>> {
  readonly runs: number
  /** Jobs that ended: completed, cancelled or dead. */
  readonly finished: number
  /** The share of runs that failed, died or crashed; cancelled and snoozed runs count neither way. Null: there were none. */
  readonly failureRate: number | null
  /** How long handlers ran. Snoozed runs are left out. */
  readonly duration: Spread
  /** From the time at which a run was due to its claim. */
  readonly wait: Spread
  /** From the time at which a job was due to the end of its first attempt. */
  readonly latency: Spread
}

export const OUTCOMES = ['completed', 'cancelled', 'failed', 'dead', 'snoozed', 'crashed'] as const

export type SummableRuns = Omit<RunCounts, 'queue' | 'type'>

export function summaryOf(rows: readonly SummableRuns[]): RunSummary {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<RunOutcome, number>
  for (const { outcome, runs } of rows) counts[outcome] += runs
  const failures = counts.failed + counts.dead + counts.crashed
  const judged = counts.completed + failures
  const worked = rows.filter(({ outcome }) => outcome !== 'snoozed')
  return {
    ...counts,
    runs: OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0),
    finished: counts.completed + counts.cancelled + counts.dead,
    failureRate: judged === 0 ? null : failures / judged,
    duration: spread(worked.map(({ durationMs, durations }) => [durationMs, durations])),
    wait: spread(rows.map(({ waitMs, waits }) => [waitMs, waits])),
    latency: spread(rows.map(({ latencyMs, latencies }) => [latencyMs, latencies])),
  }
}

function spread(parts: readonly (readonly [sumMs: number, histogram: readonly number[]])[]): Spread {
  const histogram: number[] = []
  let sumMs = 0
  for (const [ms, counts] of parts) {
    sumMs += ms
    addTo(histogram, counts)
  }
  const measured = histogram.reduce((sum, count) => sum + count, 0)
  return {
    meanMs: measured === 0 ? null : sumMs / measured,
    p50Ms: percentileMs(histogram, 0.5),
    p95Ms: percentileMs(histogram, 0.95),
    p99Ms: percentileMs(histogram, 0.99),
  }
}
