// What became of runs, by minute and by hour, and how many dead letters were born and decided about.
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
  /** Of first attempts only: from when the job was due to the end of the attempt. */
  latencyMs: number
  latencies: number[]
}

export interface TenantCounts {
  queue: string
  tenant: string
  runs: number
  waitMs: number
  waits: number[]
}

/** Adds them to the current minute, and answers with it. No key twice. */
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
    plainArray(runs.map(({ latencyMs }) => latencyMs)),
    textArray(runs.map(({ latencies }) => plainArray(latencies))),
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
  hourMonths: number
  limit: number
}

/** `limit` of each table; the answer is of the one with most. */
export async function metricPrune(session: Session, now: Now, retention: MetricRetention): Promise<number> {
  const { ageMs, tenantAgeMs, hourMonths, limit } = retention
  const values = [now, ageMs, tenantAgeMs, hourMonths, limit]
  const [row] = await session.run<{ forgotten: number }>('metricPrune', values)
  return row?.forgotten ?? 0
}

/** Sums up at most `hours` hours that are over. True: more are left. */
export async function metricRollUp(
  session: Session,
  now: Now,
  { settleMs, hours }: { settleMs: number; hours: number },
): Promise<boolean> {
  const [row] = await session.run<{ isMore: boolean }>('metricRollUp', [now, settleMs, hours])
  return row?.isMore ?? false
}

export interface MetricEdge {
  now: Date
  /** Hours before this are stored as hours. Null: none is. */
  rolledUpUntil: Date | null
}

export async function metricEdge(session: Session, now: Now): Promise<MetricEdge> {
  const [edge] = await session.run<MetricEdge>('metricEdge', [now])
  return edge as MetricEdge
}

/** Whole hours from `hoursFrom` to `hoursTo` are read as hours, the rest as minutes. */
export interface MetricSpan {
  readonly from: Date
  readonly hoursFrom: Date
  readonly hoursTo: Date
  readonly to: Date
}

export interface MetricSelection {
  readonly queue: string | null
  readonly type: string | null
}

export type MetricStep = 'minute' | 'hour' | 'day'

export interface SummedRuns extends RunCounts {
  /** The beginning of its step; without a step, of the span. */
  at: Date
}

/** `step` null: one row for the whole span. `byType` false: queue and type are empty texts. */
export function metricRuns(
  session: Session,
  { from, hoursFrom, hoursTo, to }: MetricSpan,
  { step, byType, queue, type }: MetricSelection & { step: MetricStep | null; byType: boolean },
): Promise<SummedRuns[]> {
  return session.run('metricRuns', [from, hoursFrom, hoursTo, to, step, queue, type, byType])
}

export interface HourlyRuns {
  hour: Date
  queue: string
  type: string
  outcome: RunOutcome
  runs: number
}

export function metricThroughput(session: Session, span: MetricSpan): Promise<HourlyRuns[]> {
  return session.run('metricThroughput', [span.from, span.hoursFrom, span.hoursTo, span.to])
}

export interface LetterCounts {
  at: Date
  /** Jobs that became dead letters. */
  born: number
  /** Letters that were redriven, resolved or ignored. */
  decided: number
}

export function metricLetters(
  session: Session,
  { from, hoursTo, to }: Omit<MetricSpan, 'hoursFrom'>,
  { step, queue, type }: MetricSelection & { step: 'hour' | 'day' },
): Promise<LetterCounts[]> {
  return session.run('metricLetters', [from, hoursTo, to, step, queue, type])
}
