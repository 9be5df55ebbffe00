// Live jobs: enqueue, claim, look, cancel. How runs end is in settlements.ts.
import type { Retention } from '../contract/job.ts'
import { plainArray, textArray, timeArray } from './arrays.ts'
import type { Session } from './db.ts'

/** Nullable: the database's own now() unless a test moves time. */
export type Now = Date | null

export interface NewJob {
  type: string
  queue: string
  tenant: string | null
  priority: number
  /** JSON text. */
  payload: string
  payloadVersion: number
  runAt: Date | null
  delayMs: number
  maxAttempts: number
  dedupKey: string | null
  correlationId: string
  parentJobId: string | null
  createdBy: string | null
  traceParent: string | null
}

export interface InsertOptions {
  /** How long a key that an open transaction holds is waited for. Only outside a caller's transaction: it sticks. */
  lockTimeoutMs?: number
  /** What listeners hear when this commits. */
  tell?: { channel: string; messages: readonly string[] }
}

/** The new ids by position; null where a live job holds the dedup key. */
export async function jobInsert(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  options: InsertOptions = {},
): Promise<(string | null)[]> {
  const rows = await session.run<{ ord: number; id: string | null }>('jobInsert', [
    now,
    textArray(jobs.map((job) => job.type)),
    textArray(jobs.map((job) => job.queue)),
    textArray(jobs.map((job) => job.tenant)),
    plainArray(jobs.map((job) => job.priority)),
    textArray(jobs.map((job) => job.payload)),
    plainArray(jobs.map((job) => job.payloadVersion)),
    timeArray(jobs.map((job) => job.runAt)),
    plainArray(jobs.map((job) => job.delayMs)),
    plainArray(jobs.map((job) => job.maxAttempts)),
    textArray(jobs.map((job) => job.dedupKey)),
    textArray(jobs.map((job) => job.correlationId)),
    plainArray(jobs.map((job) => job.parentJobId)),
    textArray(jobs.map((job) => job.createdBy)),
    textArray(jobs.map((job) => job.traceParent)),
    options.lockTimeoutMs === undefined ? null : String(options.lockTimeoutMs),
    options.tell?.channel ?? '',
    textArray(options.tell?.messages ?? []),
  ])
  return rows.map((row) => row.id)
}

export interface KeyOf {
  tenant: string | null
  type: string
  dedupKey: string | null
}

/** The ids of the live jobs that hold these keys, by position; null where nobody does (any more). */
export async function jobHolders(session: Session, keys: readonly KeyOf[]): Promise<(string | null)[]> {
  const rows = await session.run<{ ord: number; id: string }>('jobHolders', [
    textArray(keys.map((key) => key.tenant)),
    textArray(keys.map((key) => key.type)),
    textArray(keys.map((key) => key.dedupKey)),
  ])
  const holders = new Array<string | null>(keys.length).fill(null)
  for (const row of rows) holders[row.ord - 1] = row.id
  return holders
}

export interface ClaimRequest {
  queues: readonly { queue: string; limit: number }[]
  types: readonly { type: string; stuckAfterMs: number }[]
  runId: string
  workerId: string
  /** Queues from which one job may be taken whose last run ended in a crash. */
  suspectQueues: readonly string[]
  /** Walk the types one by one, because the queues hold types that this worker cannot run. */
  byType: boolean
}

/** A claimed job. Timestamps are Postgres's text: few handlers look at them. */
export interface ClaimedJob {
  id: string
  type: string
  queue: string
  tenant: string | null
  priority: number
  payload: unknown
  payloadVersion: number
  runAt: string
  attempt: number
  maxAttempts: number
  crashes: number
  correlationId: string
  parentJobId: string | null
  workflowId: string | null
  createdBy: string | null
  traceParent: string | null
  createdAt: string
  startedAt: string
  cancelRequestedAt: string | null
}

export function jobClaim(session: Session, now: Now, request: ClaimRequest): Promise<ClaimedJob[]> {
  return session.run<ClaimedJob>(
    request.byType ? 'jobClaimTypes' : 'jobClaim',
    [
      now,
      textArray(request.queues.map((wanted) => wanted.queue)),
      plainArray(request.queues.map((wanted) => wanted.limit)),
      textArray(request.types.map((known) => known.type)),
      plainArray(request.types.map((known) => known.stuckAfterMs)),
      request.runId,
      request.workerId,
      textArray(request.suspectQueues),
    ],
    { rawTimes: true },
  )
}

/** Which types wait in which queue. */
export function queueTypes(session: Session, queues: readonly string[]): Promise<{ queue: string; type: string }[]> {
  return session.run('queueTypes', [textArray(queues)])
}

/** Milliseconds until the next waiting job of these queues is due, or null when nothing waits. */
export async function jobNextDue(session: Session, now: Now, queues: readonly string[]): Promise<number | null> {
  const [row] = await session.run<{ waitMs: number | null }>('jobNextDue', [now, textArray(queues)])
  return row?.waitMs ?? null
}

/** Gives back what a claim took whose reply never came. */
export async function jobReleaseRun(
  session: Session,
  now: Now,
  run: { workerId: string; runId: string },
): Promise<string[]> {
  const rows = await session.run<{ id: string }>('jobReleaseRun', [now, run.workerId, run.runId])
  return rows.map((row) => row.id)
}

export interface RunningRow {
  id: string
  runId: string
  queue: string
  cancelRequested: boolean
}

export function jobRunning(session: Session, workerId: string): Promise<RunningRow[]> {
  return session.run('jobRunning', [workerId])
}

export interface Orphan {
  id: string
  runId: string
  type: string
  queue: string
  crashes: number
  cancelRequested: boolean
}

export function jobOrphans(session: Session, limit: number): Promise<Orphan[]> {
  return session.run('jobOrphans', [limit])
}

export interface Overdue {
  id: string
  runId: string
  type: string
}

export function jobOverdue(session: Session, now: Now, limit: number): Promise<Overdue[]> {
  return session.run('jobOverdue', [now, limit])
}

/** `retentions`: how long the archive keeps jobs of these types; of others, a week. */
export async function jobCancelWaiting(
  session: Session,
  now: Now,
  ids: readonly string[],
  reason: string,
  retentions: readonly { type: string; retention: Retention }[],
): Promise<string[]> {
  const rows = await session.run<{ id: string }>('jobCancelWaiting', [
    now,
    plainArray(ids),
    reason,
    textArray(retentions.map(({ type }) => type)),
    textArray(retentions.map(({ retention }) => retention)),
  ])
  return rows.map((row) => row.id)
}

export function jobCancelRunning(
  session: Session,
  now: Now,
  ids: readonly string[],
  reason: string,
): Promise<{ id: string; workerId: string }[]> {
  return session.run('jobCancelRunning', [now, plainArray(ids), reason])
}

export function jobRunNow(
  session: Session,
  now: Now,
  ids: readonly string[],
): Promise<{ id: string; queue: string }[]> {
  return session.run('jobRunNow', [now, plainArray(ids)])
}

export type JobStatus = 'pending' | 'processing' | 'blocked' | 'failed' | 'completed' | 'cancelled' | 'dead'

export interface Job {
  id: string
  status: JobStatus
  type: string
  queue: string
  tenant: string | null
  priority: number
  payload: unknown
  payloadVersion: number
  runAt: Date
  attempt: number
  maxAttempts: number
  crashes: number
  runId: string | null
  workerId: string | null
  startedAt: Date | null
  finishedAt: Date | null
  dedupKey: string | null
  correlationId: string
  parentJobId: string | null
  createdBy: string | null
  lastError: string | null
  lastErrorAt: Date | null
  reason: string | null
  result: unknown
  createdAt: Date
}

export async function jobGet(session: Session, id: string): Promise<Job | undefined> {
  const [row] = await session.run<Job>('jobGet', [id])
  return row
}

export interface JobAttempt {
  attempt: number
  runId: string
  workerId: string | null
  startedAt: Date | null
  finishedAt: Date
  errorClass: string
  errorMessage: string
  errorStack: string | null
  fingerprint: string | null
  logs: unknown
}

export function jobAttempts(session: Session, jobId: string): Promise<JobAttempt[]> {
  return session.run('jobAttempts', [jobId])
}

export interface QueueCount {
  queue: string
  due: number
  scheduled: number
  processing: number
}

export function queueCounts(session: Session, now: Now): Promise<QueueCount[]> {
  return session.run('queueCounts', [now])
}

/** Ids come from people and URLs: what is no positive bigint is no id. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && /^(0|[1-9]\d{0,18})$/.test(id) && BigInt(id) <= 9_223_372_036_854_775_807n
}
