// How the queues stood: one sample a minute, and the highest figures of each hour.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { MetricStep } from './metrics.ts'

export interface QueueSample {
  readonly queue: string
  readonly waiting: number
  readonly due: number
  readonly running: number
  /** Null: no job was due. */
  readonly oldestDueMs: number | null
}

/** The first sample of a minute stays. Queues without jobs are left out. */
export async function queueSampleAdd(session: Session, at: Date, samples: readonly QueueSample[]): Promise<void> {
  const live = samples.filter(({ waiting, running }) => waiting > 0 || running > 0)
  await session.run('queueSampleAdd', [
    at,
    textArray(live.map(({ queue }) => queue)),
    plainArray(live.map(({ waiting }) => waiting)),
    plainArray(live.map(({ due }) => due)),
    plainArray(live.map(({ running }) => running)),
    plainArray(live.map(({ oldestDueMs }) => oldestDueMs)),
  ])
}

interface SampleSelection {
  readonly from: Date
  readonly to: Date
  readonly step: MetricStep
  readonly queue: string | null
}

/** Queue null: in that step the queues were looked at, and some of the time none had jobs. */
export function queueSampleList(
  session: Session,
  { from, to, step, queue }: SampleSelection,
): Promise<(Omit<QueueSample, 'queue'> & { at: Date; queue: string | null })[]> {
  return session.run('queueSampleList', [from, to, step, queue])
}

export async function queueSampleRollUp(session: Session, now: Now, settleMs: number): Promise<void> {
  await session.run('queueSampleRollUp', [now, settleMs])
}

export interface SampleRetention {
  ageMs: number
  hourMonths: number
  limit: number
}

/** `limit` of each table; the answer is of the one with most. */
export async function queueSamplePrune(
  session: Session,
  now: Now,
  { ageMs, hourMonths, limit }: SampleRetention,
): Promise<number> {
  const [row] = await session.run<{ forgotten: number }>('queueSamplePrune', [now, ageMs, hourMonths, limit])
  return row?.forgotten ?? 0
}
