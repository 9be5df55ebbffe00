// Bulk operations: what was asked for, the jobs that it concerns, and what became of each.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { JobStatus } from './jobs.ts'

export type BulkStatus =
  | 'running'
  | 'completed'
  | 'cancelled'
  /** It could not be carried out. */
  | 'failed'
  /** By its canary. */
  | 'stopped'
/** How far the canary of an operation is. */
export type BulkStage =
  /** Canaries are chosen and redriven. */
  | 'choosing'
  /** Until all of them have ended. */
  | 'waiting'
  /** The rest follows. */
  | 'passed'
  /** The rest follows: somebody would not wait for the canary. */
  | 'skipped'
export type BulkOutcome = 'changed' | 'already' | 'refused'

export interface NewBulk {
  action: string
  options: object
  query: string | null
  tenant: string | null
  isDryRun: boolean
  rate: number
  most: number | null
  expected: number
  isCapped: boolean
  by: string
  undoOf: string | null
  canary?: number | undefined
}

export interface BulkRow {
  id: string
  action: string
  options: Record<string, unknown>
  query: string | null
  tenant: string | null
  status: BulkStatus
  isDryRun: boolean
  rate: number
  most: number | null
  expected: number
  isCapped: boolean
  isFound: boolean
  lastId: string
  cursor: string
  jobId: string | null
  undoOf: string | null
  undoneBy: string | null
  createdBy: string
  createdAt: Date
  finishedAt: Date | null
  cancelledBy: string | null
  error: string | null
  canary: number | null
  stage: BulkStage | null
  changed: number
  already: number
  refused: number
  open: number
  hasBefore: boolean
}

export async function bulkStart(session: Session, now: Now, bulk: NewBulk): Promise<{ id: string; lastId: string }> {
  const { action, options, query, tenant, isDryRun, rate, most, expected, isCapped, by, undoOf, canary = null } = bulk
  const rest = [isDryRun, rate, most, expected, isCapped, by, undoOf, canary]
  const [row] = await session.run<{ id: string; lastId: string }>('bulkStart', [
    now,
    action,
    JSON.stringify(options),
    query,
    tenant,
    ...rest,
  ])
  return row as { id: string; lastId: string }
}

export async function bulkEnqueued(session: Session, id: string, jobId: string): Promise<void> {
  await session.run('bulkEnqueued', [id, jobId])
}

/** False: another run has come as far. */
export async function bulkAdd(
  session: Session,
  id: string,
  jobIds: readonly string[],
  { from, to, isFound }: { from: string; to: string; isFound: boolean },
): Promise<boolean> {
  const rows = await session.run('bulkAdd', [id, plainArray(jobIds), null, from, to, isFound])
  return rows.length > 0
}

export function bulkNext(
  session: Session,
  id: string,
  limit: number,
): Promise<{ jobId: string; before: number | null }[]> {
  return session.run('bulkNext', [id, limit])
}

/** What became of a job. */
export interface BulkVerdict {
  jobId: string
  outcome: BulkOutcome
  reason: string | null
  before?: number
  newJobId?: string
}

export async function bulkRecord(session: Session, id: string, verdicts: readonly BulkVerdict[]): Promise<void> {
  await session.run('bulkRecord', [
    id,
    plainArray(verdicts.map(({ jobId }) => jobId)),
    textArray(verdicts.map(({ outcome }) => outcome)),
    textArray(verdicts.map(({ reason }) => reason)),
    plainArray(verdicts.map(({ before }) => before)),
    plainArray(verdicts.map(({ newJobId }) => newJobId)),
  ])
}

/** False: it had ended before. */
export async function bulkEnd(
  session: Session,
  now: Now,
  id: string,
  end: { status: Exclude<BulkStatus, 'running'>; by?: string; error?: string },
): Promise<boolean> {
  const rows = await session.run('bulkEnd', [now, id, end.status, end.by ?? null, end.error ?? null])
  return rows.length > 0
}

/** A job that is tried first, and the new job that does its work. */
export interface BulkCanary {
  jobId: string
  letterId: string | null
  tenant: string | null
  /** Null: it will be redriven. */
  outcome: BulkOutcome | null
  /** Why it could not be redriven. */
  reason: string | null
  newJobId: string | null
  /** Of the new job, as the rest. Null: there is none, or its queue keeps no job that has ended. */
  status: JobStatus | null
  attempt: number | null
  error: string | null
  startedAt: Date | null
  finishedAt: Date | null
}

export function bulkCanaries(session: Session, id: string): Promise<BulkCanary[]> {
  return session.run('bulkCanaries', [id])
}

export async function bulkCanaryAdd(session: Session, id: string, jobIds: readonly string[]): Promise<void> {
  await session.run('bulkCanaryAdd', [id, plainArray(jobIds)])
}

/** False: it has ended, or is in another stage. */
export async function bulkStage(
  session: Session,
  id: string,
  { from, to, rate }: { from: readonly BulkStage[]; to: BulkStage; rate?: number | undefined },
): Promise<boolean> {
  return (await session.run('bulkStage', [id, textArray(from), to, rate ?? null])).length > 0
}

/** False: another operation does already. */
export async function bulkUndone(session: Session, id: string, undoneBy: string): Promise<boolean> {
  return (await session.run('bulkUndone', [id, undoneBy])).length > 0
}

export async function bulkUndoItems(session: Session, id: string, undoOf: string): Promise<void> {
  await session.run('bulkUndoItems', [id, undoOf])
}

export interface BulkListFilter {
  id?: string
  tenant?: string
  before?: string
  limit?: number
}

export function bulkList(session: Session, { id, tenant, before, limit = 50 }: BulkListFilter): Promise<BulkRow[]> {
  return session.run('bulkList', [id ?? null, tenant ?? null, before ?? null, limit, true])
}

/** How many items there are, by what became of them. */
export type BulkCounts = Pick<BulkRow, 'changed' | 'already' | 'refused' | 'open' | 'hasBefore'>

/** One operation; its items are counted only if their counts are not known. */
export async function bulkLook(
  session: Session,
  id: string,
  known: BulkCounts | undefined,
): Promise<BulkRow | undefined> {
  const [row] = await session.run<BulkRow>('bulkList', [id, null, null, 1, known === undefined])
  return row && { ...row, ...known }
}

export interface BulkItem {
  jobId: string
  /** Null: its turn has not come. */
  outcome: BulkOutcome | null
  reason: string | null
  before: number | null
  newJobId: string | null
}

export function bulkItems(
  session: Session,
  id: string,
  { outcome = null, after = '0', limit }: { outcome?: BulkOutcome | null; after?: string; limit: number },
): Promise<BulkItem[]> {
  return session.run('bulkItems', [id, outcome, after, limit])
}

export function bulkReasons(
  session: Session,
  id: string,
): Promise<{ outcome: BulkOutcome; reason: string | null; count: number }[]> {
  return session.run('bulkReasons', [id])
}

export async function bulkPrune(session: Session, now: Now, ageMs: number, limit: number): Promise<number> {
  const [row] = await session.run<{ count: number }>('bulkPrune', [now, ageMs, limit])
  return row?.count ?? 0
}

/** What decides whether an operation changes a job. */
export interface BulkFacts {
  id: string
  type: string
  status: JobStatus
  priority: number
  isDue: boolean
  /** A workflow's job. */
  isStep: boolean
  isArchived: boolean
  letterId: string | null
  letterStatus: 'pending' | 'retried' | 'resolved' | 'ignored' | null
  redrivenJobId: string | null
}

export async function bulkFacts(session: Session, now: Now, ids: readonly string[]): Promise<Map<string, BulkFacts>> {
  const rows = await session.run<BulkFacts>('bulkFacts', [now, plainArray(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

export function jobArchiveForget(
  session: Session,
  ids: readonly string[],
): Promise<{ id: string; tenant: string | null }[]> {
  return session.run('jobArchiveForget', [plainArray(ids)])
}
