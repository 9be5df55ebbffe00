// Dead letters: looking at them, deciding about them, forgetting them. Written by job_bury.sql, see settlements.ts.
import type { Now } from '../clock.ts'
import type { DeadReason } from '../contract/redrive.ts'
import type { WorkflowStatus } from '../workflow/graph.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type DeadLetterStatus =
  /** Nobody has decided yet. */
  | 'pending'
  /** A new job has taken its place. */
  | 'retried'
  | 'resolved'
  | 'ignored'

export interface DeadLetter {
  id: string
  /** The job that died. */
  jobId: string
  type: string
  queue: string
  tenant: string | null
  correlationId: string
  reason: DeadReason
  /** Attempts that the job had. */
  attempts: number
  errorClass: string | null
  errorMessage: string
  fingerprint: string | null
  status: DeadLetterStatus
  acknowledged: boolean
  /** Who last decided about it: acknowledged, redrove, resolved or ignored it. */
  acknowledgedBy: string | null
  acknowledgedAt: Date | null
  /** One line per note: time, author, text. */
  notes: string | null
  /** How often this work had been redriven before it died this time. */
  redrives: number
  /** The job that has taken its place. */
  redrivenJobId: string | null
  /** The workflow whose job it was: resume that one. */
  workflowId: string | null
  diedAt: Date
}

/** The job's row as it was when it died, by the names of its columns. Ids in it are numbers: `jobId` is exact. */
export interface OriginalJob {
  readonly [column: string]: unknown
  readonly type: string
  readonly priority: number
  readonly max_attempts: number
  readonly dedup_key: string | null
  /** Of letters from before there was such a column, undefined. */
  readonly start_key?: string | null
  readonly correlation_id: string
  readonly trace_parent?: string | null
  readonly payload: unknown
  readonly payload_version: number
}

export interface WholeDeadLetter extends DeadLetter {
  originalJob: OriginalJob
  errorDetails: { class: string; stack: string | null; logs: unknown } | null
  /** How its workflow stands; null: it is of none, or that is forgotten. */
  workflowStatus: WorkflowStatus | null
}

export interface DeadLetterFilter {
  status?: DeadLetterStatus
  acknowledged?: boolean
  queue?: string
  type?: string
  tenant?: string
  fingerprint?: string
  reason?: DeadReason
  /** Only letters older than the one with this id: the last one of the page before. */
  before?: string
}

export function deadLetterList(session: Session, filter: DeadLetterFilter, limit: number): Promise<DeadLetter[]> {
  const { status, acknowledged, queue, type, tenant, fingerprint, reason, before } = filter
  const wanted = [status, acknowledged, queue, type, tenant, fingerprint, reason, before]
  return session.run('deadLetterList', [...wanted.map((value) => value ?? null), limit])
}

export async function deadLetterGet(session: Session, ids: readonly string[]): Promise<Map<string, WholeDeadLetter>> {
  const rows = await session.run<WholeDeadLetter>('deadLetterGet', [plainArray(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

export async function deadLetterOfJob(session: Session, jobId: string): Promise<string | undefined> {
  const [row] = await session.run<{ id: string }>('deadLetterOfJob', [jobId])
  return row?.id
}

/** Pending letters of one type that failed in the same way. */
export interface DeadLetterGroup {
  fingerprint: string | null
  type: string
  pending: number
  firstDiedAt: Date
  lastDiedAt: Date
  newestId: string
  /** The message of the newest letter. */
  sampleMessage: string
}

export type DeadLetterGroupFilter = Pick<DeadLetterFilter, 'queue' | 'type' | 'tenant'>

export function deadLetterGroups(
  session: Session,
  { queue, type, tenant }: DeadLetterGroupFilter,
  limit: number,
): Promise<DeadLetterGroup[]> {
  if (queue === undefined && type === undefined && tenant === undefined) return session.run('deadLetterGroups', [limit])
  return session.run('deadLetterGroupsWithin', [limit, queue ?? null, type ?? null, tenant ?? null])
}

/** The letters of a tenant in a queue. */
export interface DeadLetterCounts {
  queue: string
  /** Null: of jobs without a tenant. */
  tenant: string | null
  pending: number
  retried: number
  resolved: number
  ignored: number
  oldestPendingAt: Date | null
}

export function deadLetterCounts(session: Session, limit: number): Promise<DeadLetterCounts[]> {
  return session.run('deadLetterCounts', [limit])
}

/** What a decision found. */
export interface Decided {
  id: string
  tenant: string | null
  /** False: it had been decided so before. */
  isChanged: boolean
  acknowledgedBy: string | null
  acknowledgedAt: Date | null
}

export function deadLetterAcknowledge(
  session: Session,
  now: Now,
  ids: readonly string[],
  by: string,
): Promise<Decided[]> {
  return session.run('deadLetterAcknowledge', [now, plainArray(ids), by])
}

export interface Closing {
  as: 'resolved' | 'ignored'
  by: string
  note: string | null
}

export function deadLetterClose(
  session: Session,
  now: Now,
  ids: readonly string[],
  closing: Closing,
): Promise<Decided[]> {
  return session.run('deadLetterClose', [now, plainArray(ids), closing.as, closing.by, closing.note])
}

/** The letters that are there. */
export function deadLetterNote(
  session: Session,
  now: Now,
  ids: readonly string[],
  note: { by: string; text: string },
): Promise<{ id: string; tenant: string | null }[]> {
  return session.run('deadLetterNote', [now, plainArray(ids), note.by, note.text])
}

export type LockedLetter = Pick<
  WholeDeadLetter,
  'id' | 'status' | 'acknowledged' | 'acknowledgedBy' | 'redrivenJobId' | 'workflowId' | 'workflowStatus'
>

/** `isPatient`: waits for whoever holds one of them; otherwise such letters are left out. */
export async function deadLetterLock(
  session: Session,
  ids: readonly string[],
  { isPatient }: { isPatient: boolean },
): Promise<Map<string, LockedLetter>> {
  const statement = isPatient ? 'deadLetterLock' : 'deadLetterTryLock'
  const rows = await session.run<LockedLetter>(statement, [plainArray(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

export async function deadLetterRedriven(
  session: Session,
  now: Now,
  redriven: readonly { id: string; jobId: string }[],
  by: string,
): Promise<void> {
  const [ids, jobIds] = [redriven.map((each) => each.id), redriven.map((each) => each.jobId)]
  await session.run('deadLetterRedriven', [now, plainArray(ids), plainArray(jobIds), by])
}

/** New jobs of a resumed workflow do what the dead ones did not. */
export async function deadLetterReplaced(
  session: Session,
  now: Now,
  heirs: readonly { deadJobId: string; jobId: string }[],
  by: string,
): Promise<void> {
  if (heirs.length === 0) return
  const [dead, jobs] = [heirs.map(({ deadJobId }) => deadJobId), heirs.map(({ jobId }) => jobId)]
  await session.run('deadLetterReplaced', [now, plainArray(dead), plainArray(jobs), by])
}

/** Which letters are redriven by themselves. */
export interface RedriveRule {
  type: string
  reason: DeadReason
  atMost: number
  afterMs: number
}

export async function deadLetterDue(
  session: Session,
  now: Now,
  rules: readonly RedriveRule[],
  limit: number,
): Promise<string[]> {
  const rows = await session.run<{ id: string }>('deadLetterDue', [
    now,
    textArray(rules.map((rule) => rule.type)),
    textArray(rules.map((rule) => rule.reason)),
    plainArray(rules.map((rule) => rule.atMost)),
    plainArray(rules.map((rule) => rule.afterMs)),
    limit,
  ])
  return rows.map((row) => row.id)
}

export async function deadLetterPostpone(session: Session, now: Now, ids: readonly string[]): Promise<void> {
  await session.run('deadLetterPostpone', [now, plainArray(ids)])
}

/** From when on the age of a letter counts that was resolved or ignored. */
export type LetterAge = 'decision' | 'death'

export async function deadLetterPrune(
  session: Session,
  now: Now,
  { ageMs, since }: { ageMs: number; since: LetterAge },
  limit: number,
): Promise<number> {
  const statement = since === 'decision' ? 'deadLetterPrune' : 'deadLetterPruneByDeath'
  return (await session.run(statement, [now, ageMs, limit])).length
}
