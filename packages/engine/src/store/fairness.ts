// What tenants have in queues, and what they got lately: for whoever asks whether a queue is shared fairly.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface TenantWorkRow {
  queue: string
  /** Null: of jobs without a tenant. */
  tenant: string | null
  type: string
  /** May run, as far as their time and their keys tell. */
  due: number
  /** Wait for others of their order key. */
  ordered: number
  /** Wait for a place of their limit key. */
  keyed: number
  /** Set aside because their tenant may not run. */
  parked: number
  /** Beyond the number that their tenant may have. */
  deferred: number
  running: number
  oldestDueAt: Date | null
}

export interface TenantRunsRow {
  queue: string
  tenant: string
  runs: number
  waits: number[]
}

/** `tenant` null: of all. */
export interface FairnessScope {
  readonly queues: readonly string[]
  readonly tenant: string | null
}

export function fairnessWork(session: Session, now: Now, { queues, tenant }: FairnessScope): Promise<TenantWorkRow[]> {
  return session.run('fairnessWork', [now, textArray(queues), tenant])
}

export async function fairnessRuns(
  session: Session,
  now: Now,
  { queues, tenant, spanMs }: FairnessScope & { spanMs: number },
): Promise<TenantRunsRow[]> {
  const rows = await session.run<Omit<TenantRunsRow, 'waits'> & { buckets: [at: number, count: number][] }>(
    'fairnessRuns',
    [now, spanMs, textArray(queues), tenant],
  )
  return rows.map(({ buckets, ...row }) => ({ ...row, waits: histogramOf(buckets) }))
}

function histogramOf(buckets: readonly (readonly [at: number, count: number])[]): number[] {
  const waits: number[] = []
  for (const [at, count] of buckets) {
    while (waits.length < at) waits.push(0)
    waits[at - 1] = count
  }
  return waits
}

export interface FairnessFacts {
  at: Date
  runs: number
  durationMs: number
  /** That are known. */
  tenants: number
}

export async function fairnessFacts(
  session: Session,
  now: Now,
  { queue, spanMs }: { queue: string; spanMs: number },
): Promise<FairnessFacts> {
  const [row] = await session.run<FairnessFacts>('fairnessFacts', [now, spanMs, queue])
  return row as FairnessFacts
}
