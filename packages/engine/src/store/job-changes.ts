// What people change about live jobs: cancel, run now, prioritise, fail, prune.
import type { Now } from '../clock.ts'
import type { Retention } from '../contract/job.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { workflowSettle } from './workflow-items.ts'

/** A job and what its end can make room in. */
export interface KeyedRow {
  id: string
  queue: string
  tenant: string | null
  orderKey: string | null
  limitKey: string | null
  /** Its end lets a deferred job of its tenant through, if there is one. */
  tenantJobs: number | null
}

export type CancelledRow = KeyedRow & { type: string; workflowId: string | null }

/**
 * In a transaction, because their workflows are told. `retentions`: how long the archive keeps jobs of these types; of
 * others, a week.
 */
export async function jobCancelWaiting(
  session: Session,
  now: Now,
  ids: readonly string[],
  reason: string,
  retentions: readonly { type: string; retention: Retention }[],
): Promise<CancelledRow[]> {
  const rows = await session.run<CancelledRow>('jobCancelWaiting', [
    now,
    plainArray(ids),
    reason,
    textArray(retentions.map(({ type }) => type)),
    textArray(retentions.map(({ retention }) => retention)),
  ])
  const steps = rows.filter(({ workflowId }) => workflowId !== null)
  const ended = steps.map(({ id }) => ({ jobId: id, status: 'cancelled' as const, result: null, reason }))
  await workflowSettle(session, ended, { isOwn: true })
  return rows
}

export function jobCancelRunning(
  session: Session,
  now: Now,
  ids: readonly string[],
  reason: string,
): Promise<{ id: string; workerId: string; tenant: string | null }[]> {
  return session.run('jobCancelRunning', [now, plainArray(ids), reason])
}

export function jobRunNow(session: Session, now: Now, ids: readonly string[]): Promise<KeyedRow[]> {
  return session.run('jobRunNow', [now, plainArray(ids)])
}

/** A job that is about to be failed by hand. */
export interface TakenJob extends KeyedRow {
  runId: string
  /** The worker that runs it. Null: it was waiting. */
  holder: string | null
  type: string
  attempt: number
  maxAttempts: number
  workflowId: string | null
  /** It waited for others of its key, for its tenant, or both. */
  wasBlocked: boolean
}

/** In the transaction that settles it. */
export async function jobTake(tx: Session, now: Now, id: string): Promise<TakenJob | undefined> {
  const [taken] = await tx.run<TakenJob>('jobTake', [now, id])
  return taken
}

export async function jobBlock(session: Session, id: string): Promise<void> {
  await session.run('jobBlock', [id])
}

export type ArchivedStatus = 'completed' | 'cancelled' | 'dead'

export interface ArchivePrune {
  ageMs: number
  /** Null for every type. */
  types: readonly string[] | null
  statuses: readonly ArchivedStatus[]
  limit: number
  /** The id where the batch before has ended; '0' for the first. */
  after: string
}

/** How many were forgotten, and the last of them. */
export async function jobArchivePrune(
  session: Session,
  now: Now,
  { ageMs, types, statuses, limit, after }: ArchivePrune,
): Promise<{ count: number; last: string | null }> {
  const params = [now, ageMs, types === null ? null : textArray(types), textArray(statuses), limit, after]
  const [gone] = await session.run<{ count: number; last: string | null }>('jobArchivePrune', params)
  return gone ?? { count: 0, last: null }
}

export function jobPrioritise(
  session: Session,
  now: Now,
  ids: readonly string[],
  priority: number,
): Promise<{ id: string; queue: string; tenant: string | null; before: number }[]> {
  return session.run('jobPrioritise', [now, plainArray(ids), priority])
}
