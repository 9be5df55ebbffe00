// What alerts, health and dashboards judge by, beside the counts of stats.ts.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface RecentOutcomes {
  queue: string
  type: string
  /** Runs that succeeded or failed. */
  runsHour: number
  failuresHour: number
  runsShort: number
  failuresShort: number
}

/** Of the last hour, and of the last `shortMs` of it. */
export function vitalsRuns(session: Session, now: Now, shortMs: number): Promise<RecentOutcomes[]> {
  return session.run('vitalsRuns', [now, shortMs])
}

export interface DeadLetterVitals {
  /** Dead letters that wait for a decision. At most ten thousand are counted. */
  readonly pending: number
  /** Those of them that died within the last hour. */
  readonly lastHour: number
}

export async function vitalsDeadLetters(session: Session, now: Now, limit: number): Promise<DeadLetterVitals> {
  const [row] = await session.run<DeadLetterVitals>('vitalsDeadLetters', [now, limit])
  return row as DeadLetterVitals
}

/** A run beyond twice its timeout. */
export interface StuckRun {
  readonly jobId: string
  readonly type: string
  readonly queue: string
  readonly tenant: string | null
  /** When it was ended, or should have been. */
  readonly at: Date
  /** It was ended and is a dead letter. Otherwise it still runs. */
  readonly hasEnded: boolean
}

/** `spanMs`: how far back to look for those that were ended; `limit` of each kind. */
export function vitalsStuck(
  session: Session,
  now: Now,
  { spanMs, limit }: { spanMs: number; limit: number },
): Promise<StuckRun[]> {
  return session.run('vitalsStuck', [now, spanMs, limit])
}

/** A worker that ended without having stopped in order. */
export interface WorkerDeath {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly endedAt: Date
  readonly reason: string
}

export function vitalsDeadWorkers(session: Session, spanMs: number): Promise<WorkerDeath[]> {
  return session.run('vitalsDeadWorkers', [spanMs])
}

export function vitalsTenantLimits(
  session: Session,
  of: readonly { tenant: string; queue: string }[],
): Promise<{ tenant: string; queue: string; jobs: number }[]> {
  const names = [textArray(of.map(({ tenant }) => tenant)), textArray(of.map(({ queue }) => queue))]
  return session.run('vitalsTenantLimits', names)
}

/** Histograms, by queue, of the time from when jobs were due to the end of their first attempts. */
export function vitalsLatencies(
  session: Session,
  now: Now,
  spanMs: number,
): Promise<{ queue: string; latencies: number[] }[]> {
  return session.run('vitalsLatencies', [now, spanMs])
}
