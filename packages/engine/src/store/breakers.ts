// Circuit breakers: one row per service that has ever failed or been set.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type BreakerState = 'closed' | 'open' | 'half_open'

/** A run that tries the service while all others wait. */
export interface Probe {
  /** Null: a call of millrace.breaker, outside of handlers. */
  readonly jobId: string | null
  readonly runId: string
}

/** A probe that is no job counts for so long at most: no row tells whether its process still lives. */
export const CALL_PROBE_MS = 30_000

/** What is known about a service. What belongs to another state than the present one means nothing. */
export interface BreakerFacts {
  readonly state: BreakerState
  /** Failures in a row. */
  readonly failureCount: number
  /** While half-open: probes that succeeded. */
  readonly successCount: number
  readonly lastFailureAt: Date | null
  readonly openedAt: Date | null
  /** While open: when a probe may run; null: not before somebody resets it. */
  readonly openUntil: Date | null
  readonly halfOpenedAt: Date | null
  readonly probe: Probe | null
}

/** Set at run time; null: as the code says. */
export interface BreakerOverrides {
  readonly failures: number | null
  readonly openForMs: number | null
  readonly successes: number | null
}

export interface BreakerRow extends BreakerFacts, BreakerOverrides {
  readonly serviceName: string
  readonly updatedAt: Date
}

export interface LockedBreaker extends BreakerRow {
  /** By the database's clock, or by the one that is moved by hand. */
  readonly now: Date
}

export interface SeenBreaker extends BreakerRow {
  /** The run that is noted as probe still runs. */
  readonly isProbeLive: boolean
  /** Until a probe may run; 0 or less: it may now; null: not before somebody resets it. */
  readonly probeInMs: number | null
}

type Stored<Row> = Omit<Row, 'probe'> & { probeJobId: string | null; probeRunId: string | null }

/** Within a transaction: until it ends, nobody else changes this breaker. */
export async function breakerLock(session: Session, now: Now, service: string): Promise<LockedBreaker> {
  const [row] = await session.run<Stored<LockedBreaker>>('breakerLock', [now, service])
  return withProbe(row as Stored<LockedBreaker>)
}

export async function breakerWrite(session: Session, now: Now, service: string, facts: BreakerFacts): Promise<void> {
  const { state, failureCount, successCount, lastFailureAt, openedAt, openUntil, halfOpenedAt, probe } = facts
  const times = [lastFailureAt, openedAt, openUntil, halfOpenedAt]
  const values = [service, state, failureCount, successCount, ...times, probe?.jobId ?? null, probe?.runId ?? null]
  await session.run('breakerWrite', [now, ...values])
}

export async function breakerConfigure(
  session: Session,
  now: Now,
  service: string,
  { failures, openForMs, successes }: BreakerOverrides,
): Promise<void> {
  await session.run('breakerConfigure', [now, service, failures, openForMs, successes])
}

/** By name. Those of `services` that have a row, or all. */
export async function breakerLook(session: Session, now: Now, services?: readonly string[]): Promise<SeenBreaker[]> {
  const names = services === undefined ? null : textArray(services)
  const rows = await session.run<Stored<SeenBreaker>>('breakerLook', [now, names, CALL_PROBE_MS])
  return rows.map(withProbe)
}

/** Does the run that is noted as probe still run? */
export async function isProbeLive(session: Session, { probe, now, updatedAt }: LockedBreaker): Promise<boolean> {
  if (probe === null) return false
  if (probe.jobId === null) return now.getTime() - updatedAt.getTime() < CALL_PROBE_MS
  return (await session.run('jobIsRunning', [probe.jobId, probe.runId])).length > 0
}

function withProbe<Row extends { probeJobId: string | null; probeRunId: string | null }>({
  probeJobId,
  probeRunId,
  ...row
}: Row): Omit<Row, 'probeJobId' | 'probeRunId'> & { probe: Probe | null } {
  return {
    ...row,
    probe: probeRunId === null ? null : { jobId: probeJobId, runId: probeRunId },
  }
}
