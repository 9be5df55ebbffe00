// How much waits, runs and has ended, for people and dashboards.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { RunOutcome } from './metrics.ts'

export interface LiveRow {
  queue: string
  /** Null in a row of a tenant. */
  type: string | null
  /** Null in a row of a type. */
  tenant: string | null
  waiting: number
  due: number
  oldestDueAt: Date | null
  running: number
  blocked: number
  failed: number
  /** Of those that wait or run. */
  withoutTenant: number
}

/** By queue and type, and by queue and tenant of the `tenants` with most jobs. */
export function statsLive(session: Session, now: Now, tenants: number): Promise<LiveRow[]> {
  return session.run('statsLive', [now, tenants])
}

export function statsDead(session: Session): Promise<{ queue: string; type: string; dead: number }[]> {
  return session.run('statsDead', [])
}

export interface Oldest {
  /** Jobs that wait for another attempt. */
  failed: number
  runningSince: Date | null
  deadSince: Date | null
}

export async function statsOldest(session: Session): Promise<Oldest> {
  const [row] = await session.run<Oldest>('statsOldest', [])
  return row as Oldest
}

export interface RecentRuns {
  queue: string
  type: string
  outcome: RunOutcome
  runs: number
  durations: number[]
  waits: number[]
}

export function statsRuns(session: Session, now: Now, spanMs: number): Promise<RecentRuns[]> {
  return session.run('statsRuns', [now, spanMs])
}

export function statsTenantWaits(
  session: Session,
  now: Now,
  spanMs: number,
  of: readonly { queue: string; tenant: string | null }[],
): Promise<{ queue: string; tenant: string; waits: number[] }[]> {
  const names = [textArray(of.map(({ queue }) => queue)), textArray(of.map(({ tenant }) => tenant))]
  return session.run('statsTenantWaits', [now, spanMs, ...names])
}
