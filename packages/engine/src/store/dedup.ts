// Enqueueing under dedup keys: what holds them, live jobs and windows that outlive them.
import type { Now } from '../clock.ts'
import { plainArray, sparseArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { type InsertOptions, insertColumns, type NewJob, telling, workflowsOf } from './jobs.ts'

export interface KeyOf {
  tenant: string | null
  type: string
  dedupKey: string | null
}

/** By position; the id is null where the key is held. `ids`: those of jobIds, or none. */
export function jobInsertKeyed(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  options: InsertOptions & { isUntilStart: boolean; windowMs: number | null; ids: readonly string[] },
): Promise<{ id: string | null; mustGo: boolean }[]> {
  return session.run('jobInsertKeyed', [
    now,
    ...keyedColumns(jobs, options),
    sparseArray(jobs, (job) => job.orderKey),
    sparseArray(jobs, (job) => (job.orderStops ? 'true' : null)),
    sparseArray(jobs, (job) => job.limitKey),
    sparseArray(jobs, (job) => job.limitConcurrency),
    plainArray(options.ids),
    options.isUntilStart,
    options.windowMs,
    workflowsOf(jobs),
    tenantJobsOf(jobs),
  ])
}

/** By position; the id is null where a job that has started holds the key. No key may come twice. */
export function jobInsertReplacing(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  options: InsertOptions & { isUntilStart: boolean; maxWaitMs: number | null },
): Promise<{ id: string | null; isNew: boolean }[]> {
  return session.run('jobInsertReplacing', [
    now,
    ...keyedColumns(jobs, options),
    options.isUntilStart,
    options.maxWaitMs,
    tenantJobsOf(jobs),
  ])
}

/** Takes back what this transaction has inserted. */
export async function jobWithdraw(session: Session, ids: readonly string[]): Promise<void> {
  await session.run('jobWithdraw', [plainArray(ids)])
}

/** Frees these keys of jobs that have started and asks for their end. Returns the workers that run them. */
export async function jobSupersede(
  session: Session,
  now: Now,
  keys: readonly KeyOf[],
  { lockTimeoutMs }: InsertOptions,
): Promise<string[]> {
  const rows = await session.run<{ workerId: string | null }>('jobSupersede', [
    now,
    ...keyColumns(keys),
    patience(lockTimeoutMs),
  ])
  return rows.flatMap(({ workerId }) => workerId ?? [])
}

/** The ids of the live jobs that hold these keys, by position; null where nobody does (any more). */
export async function jobHolders(session: Session, keys: readonly KeyOf[]): Promise<(string | null)[]> {
  return byOrd(keys.length, await session.run('jobHolders', keyColumns(keys)))
}

/** The ids of the jobs, live or ended, whose windows are open for these keys, by position; null where none is. */
export async function dedupWindowHolders(
  session: Session,
  now: Now,
  keys: readonly KeyOf[],
): Promise<(string | null)[]> {
  const rows = await session.run<{ ord: number; id: string }>('dedupWindowHolders', [now, ...keyColumns(keys)])
  return byOrd(keys.length, rows)
}

/** How many windows that are over were forgotten. */
export async function dedupWindowPrune(session: Session, now: Now, limit: number): Promise<number> {
  return (await session.run('dedupWindowPrune', [now, limit])).length
}

const keyedColumns = (jobs: readonly NewJob[], { tell, lockTimeoutMs }: InsertOptions): (string | null)[] => [
  ...insertColumns(jobs),
  ...telling(tell),
  textArray(jobs.map((job) => job.dedupKey)),
  patience(lockTimeoutMs),
]

const tenantJobsOf = (jobs: readonly NewJob[]): string => sparseArray(jobs, (job) => job.tenantJobs)

const patience = (lockTimeoutMs: number | undefined): string | null =>
  lockTimeoutMs === undefined ? null : String(lockTimeoutMs)

const keyColumns = (keys: readonly KeyOf[]): string[] => [
  textArray(keys.map((key) => key.tenant)),
  textArray(keys.map((key) => key.type)),
  textArray(keys.map((key) => key.dedupKey)),
]

/** The ids by position, null where there is none. */
function byOrd(length: number, rows: readonly { ord: number; id: string }[]): (string | null)[] {
  const ids = new Array<string | null>(length).fill(null)
  for (const row of rows) ids[row.ord - 1] = row.id
  return ids
}
