// Jobs as they are enqueued, and as they are looked at. Between the two: job-claims.ts, running-jobs.ts, job-changes.ts, and
// settlements.ts for how runs end.
import type { Now } from '../clock.ts'
import type { DedupeRule } from '../contract/dedupe.ts'
import { jsonArray, sharedArray, sparseArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { type JobProgress, progressOf, type StoredProgress } from './progress.ts'
import type { StatementName } from './statements.ts'

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
  /** Jobs of one order key run one after another. */
  orderKey: string | null
  /** Its death stops its order key. */
  orderStops: boolean
  /** So many jobs of one limit key run at once. */
  limitKey: string | null
  limitConcurrency: number | null
  /** It is deferred until its tenant has fewer than so many jobs, by the queue's contract. Null: never. */
  tenantJobs: number | null
  /** What happens where that key is held. */
  dedupe: DedupeRule
  /** Null: it is the root of its own. */
  correlationId: string | null
  parentJobId: string | null
  createdBy: string | null
  traceParent: string | null
  /** Of which workflow it is a step's job. */
  workflowId: string | null
}

const CHUNK_ROWS = 2_000
const CHUNK_CHARACTERS = 16_000_000

export interface InsertOptions {
  /** How long a key that an open transaction holds is waited for. Only outside a caller's transaction: it sticks. */
  lockTimeoutMs?: number
  /** What listeners hear when this commits. */
  tell?: { channel: string; messages: readonly string[] }
  deadlineMs?: number
}

/** The new ids by position. None of these jobs has a key of any kind. */
export async function jobInsert(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  { tell, ...options }: InsertOptions = {},
): Promise<string[]> {
  const rows = await session.run<{ id: string }>(...insertion(now, jobs, tell), options)
  return rows.map((row) => row.id)
}

/** The same where nobody needs the ids. */
export async function jobWrite(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  { tell }: InsertOptions = {},
): Promise<void> {
  await session.write(...insertion(now, jobs, tell))
}

function insertion(now: Now, jobs: readonly NewJob[], tell: InsertOptions['tell']): [StatementName, unknown[]] {
  const [only] = jobs
  const messages = tell?.messages ?? []
  if (only === undefined || jobs.length > 1 || messages.length > 1)
    return ['jobInsert', [now, ...insertColumns(jobs), ...telling(tell), workflowsOf(jobs)]]
  const { type, queue, priority, payloadVersion, maxAttempts, payload, tenant, runAt, delayMs } = only
  const { correlationId, parentJobId, createdBy, traceParent, workflowId } = only
  const told = messages.length === 0 ? [null, null] : [tell?.channel, messages[0]]
  // All as text: whoever lends us a transaction may send numbers and dates as other types than these.
  const kind = [type, queue, String(priority), String(payloadVersion), String(maxAttempts), payload]
  const due = [runAt?.toISOString() ?? null, delayMs === 0 ? null : String(delayMs)]
  const own = [correlationId, parentJobId, createdBy, traceParent]
  return ['jobInsertOne', [now, ...kind, tenant, ...due, ...own, ...told, workflowId]]
}

/** Ids for jobs that are inserted in another order than the one they run in. */
export async function jobIds(session: Session, count: number): Promise<string[]> {
  const rows = await session.run<{ id: string }>('jobIds', [count])
  return rows.map((row) => row.id)
}

/** As much at a time as one statement can carry. */
export function* chunksOf(jobs: readonly NewJob[]): Generator<readonly NewJob[]> {
  let from = 0
  let characters = 0
  for (let i = 0; i < jobs.length; i++) {
    const { length } = (jobs[i] as NewJob).payload
    if (i > from && (i - from === CHUNK_ROWS || characters + length > CHUNK_CHARACTERS)) {
      yield jobs.slice(from, i)
      from = i
      characters = 0
    }
    characters += length
  }
  yield from === 0 ? jobs : jobs.slice(from)
}

/** The columns that every insert has, in the order of its parameters. */
export function insertColumns(jobs: readonly NewJob[]): string[] {
  return [
    sharedArray(jobs, (job) => job.type),
    sharedArray(jobs, (job) => job.queue),
    sharedArray(jobs, (job) => job.priority),
    sharedArray(jobs, (job) => job.payloadVersion),
    sharedArray(jobs, (job) => job.maxAttempts),
    jsonArray(jobs.map((job) => job.payload)),
    sparseArray(jobs, (job) => job.tenant),
    sparseArray(jobs, (job) => job.runAt?.toISOString()),
    sparseArray(jobs, (job) => (job.delayMs === 0 ? null : job.delayMs)),
    sparseArray(jobs, (job) => job.correlationId),
    sparseArray(jobs, (job) => job.parentJobId),
    sparseArray(jobs, (job) => job.createdBy),
    sparseArray(jobs, (job) => job.traceParent),
  ]
}

export const workflowsOf = (jobs: readonly NewJob[]): string => sparseArray(jobs, (job) => job.workflowId)

export const telling = (tell: InsertOptions['tell']): [string, string] => [
  tell?.channel ?? '',
  textArray(tell?.messages ?? []),
]

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
  /** Of which workflow it is a step's job. */
  workflowId: string | null
  createdBy: string | null
  /** W3C `traceparent` of the span that enqueued it. */
  traceParent: string | null
  lastError: string | null
  lastErrorAt: Date | null
  reason: string | null
  result: unknown
  createdAt: Date
}

export interface JobDetails extends Job {
  /** What its handler said last by ctx.progress; null: nothing, or it does not run. */
  progress: JobProgress | null
  /** The last log lines of the run that ended it, where its queue or type keeps them. */
  logs: unknown
}

export async function jobGet(session: Session, id: string): Promise<JobDetails | undefined> {
  const [row] = await session.run<Job & { progress: StoredProgress; logs: unknown }>('jobGet', [id])
  return row && { ...row, progress: progressOf(row.progress) }
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
  blocked: number
}

export function queueCounts(session: Session, now: Now): Promise<QueueCount[]> {
  return session.run('queueCounts', [now])
}
