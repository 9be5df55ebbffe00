// What became of runs, by minute.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

/** How a run ended. 'failed': it is tried again. 'dead': it was the last attempt. 'crashed': its process died. */
export type RunOutcome = 'completed' | 'cancelled' | 'failed' | 'dead' | 'snoozed' | 'crashed'

export interface RunCounts {
  queue: string
  type: string
  outcome: RunOutcome
  runs: number
  durationMs: number
  durations: number[]
  waitMs: number
  waits: number[]
}

export interface TenantCounts {
  queue: string
  tenant: string
  runs: number
  waitMs: number
  waits: number[]
}

/** Adds them to the current minute. No key twice. */
/** Answers with the minute that they were added to. */
export async function metricAdd(
  session: Session,
  now: Now,
  runs: readonly RunCounts[],
  tenants: readonly TenantCounts[],
): Promise<Date | undefined> {
  const [added] = await session.run<{ minute: Date }>('metricAdd', [
    now,
    textArray(runs.map(({ queue }) => queue)),
    textArray(runs.map(({ type }) => type)),
    textArray(runs.map(({ outcome }) => outcome)),
    plainArray(runs.map((each) => each.runs)),
    plainArray(runs.map(({ durationMs }) => durationMs)),
    textArray(runs.map(({ durations }) => plainArray(durations))),
    plainArray(runs.map(({ waitMs }) => waitMs)),
    textArray(runs.map(({ waits }) => plainArray(waits))),
    textArray(tenants.map(({ queue }) => queue)),
    textArray(tenants.map(({ tenant }) => tenant)),
    plainArray(tenants.map((each) => each.runs)),
    plainArray(tenants.map(({ waitMs }) => waitMs)),
    textArray(tenants.map(({ waits }) => plainArray(waits))),
  ])
  return added?.minute
}

export interface MetricRetention {
  ageMs: number
  tenantAgeMs: number
  limit: number
}

/** `limit` of each table; the answer is of the one with most. */
export async function metricPrune(session: Session, now: Now, retention: MetricRetention): Promise<number> {
  const { ageMs, tenantAgeMs, limit } = retention
  const [row] = await session.run<{ forgotten: number }>('metricPrune', [now, ageMs, tenantAgeMs, limit])
  return row?.forgotten ?? 0
}
