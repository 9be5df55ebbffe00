// Live jobs: enqueue, claim, look, cancel. How runs end is in settlements.ts.
import type { DedupeRule } from '../contract/dedupe.ts'
import type { Retention } from '../contract/job.ts'
import { jsonArray, plainArray, sharedArray, sparseArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { compareIds } from './job-id.ts'
import { ownCorrelation } from './own-correlation.ts'
import { workflowSettle } from './workflow-items.ts'

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
  /** Jobs of one order key run one after another. */
  orderKey: string | null
  /** Its death stops its order key. */
  orderStops: boolean
  /** So many jobs of one limit key run at once. */
  limitKey: string | null
  limitConcurrency: number | null
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
  const values = [now, ...insertColumns(jobs), ...telling(tell), workflowsOf(jobs)]
  const rows = await session.run<{ id: string }>('jobInsert', values, options)
  return rows.map((row) => row.id)
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

/** Where a job stands in its queue. */
export interface Position {
  readonly priority: number
  /** Its due time in seconds, as the database says it. */
  readonly runAtS: number
  readonly id: string
}

export interface ClaimRequest {
  /** `behind`: only what comes after this job, or has another priority. Not when claiming by type. */
  queues: readonly { queue: string; limit: number; behind?: Position | undefined }[]
  types: readonly { type: string; stuckAfterMs: number }[]
  runId: string
  workerId: string
  /** Queues from which one job may be taken whose last run ended in a crash. */
  suspectQueues: readonly string[]
  /** Walk the types one by one, because the queues hold types that this worker cannot run. */
  byType: boolean
  /** Few jobs are expected. */
  isQuiet?: boolean
  /** Nothing is claimed if the rules have another version by now. */
  rulesVersion?: number
}

/** A claimed job, as far as a worker needs to know it. */
export interface ClaimedJob {
  readonly id: string
  readonly type: string
  readonly queue: string
  readonly tenant: string | null
  readonly priority: number
  readonly payload: unknown
  readonly payloadVersion: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  readonly correlationId: string
  readonly parentJobId: string | null
  readonly createdBy: string | null
  readonly isCancelRequested: boolean
  /** When it was due, in seconds, as the database says it. */
  readonly runAtS: number
  readonly orderKey: string | null
  readonly limitKey: string | null
  /** Of which workflow it is a step's job. */
  readonly workflowId: string | null
  /** How long ago it had been enqueued when it was claimed, by the database's clock. */
  readonly ageMs: number
  /** The time it was claimed at, if the clock is one that is moved by hand. */
  readonly claimedAt: Now
}

/** In the order of the columns that the two statements return. */
export type ClaimedTuple = readonly [
  id: string,
  type: string,
  queue: string,
  tenant: string | null,
  priority: number,
  payload: unknown,
  attempt: number,
  maxAttempts: number,
  crashes: number | null,
  correlationId: string | null,
  parentJobId: string | null,
  createdBy: string | null,
  cancelRequested: true | null,
  runAtS: number,
  ageS: number,
  payloadVersion: number | null,
  orderKey: string | null,
  limitKey: string | null,
  workflowId: string | null,
]

/** In the order in which they are to run. */
export async function jobClaim(session: Session, now: Now, request: ClaimRequest): Promise<ClaimedJob[]> {
  const values = [
    now,
    textArray(request.queues.map((wanted) => wanted.queue)),
    plainArray(request.queues.map((wanted) => wanted.limit)),
    textArray(request.types.map((known) => known.type)),
    plainArray(request.types.map((known) => known.stuckAfterMs)),
    request.runId,
    request.workerId,
    textArray(request.suspectQueues),
    request.rulesVersion ?? null,
    ...(request.byType ? [] : entries(request)),
  ]
  const tuples = await session.tuples<ClaimedTuple>(request.byType ? 'jobClaimTypes' : 'jobClaim', values, {
    keepsPlan: request.isQuiet ?? false,
  })
  return claimedJobs(tuples, now)
}

/** In the order in which they are to run. */
export function claimedJobs(tuples: readonly ClaimedTuple[], now: Now): ClaimedJob[] {
  return tuples.map((tuple) => claimedJob(tuple, now)).sort(inOrder)
}

const entries = ({ queues }: ClaimRequest): [string, string, string] => [
  plainArray(queues.map(({ behind }) => behind?.priority)),
  plainArray(queues.map(({ behind }) => behind?.runAtS)),
  plainArray(queues.map(({ behind }) => behind?.id)),
]

function claimedJob(tuple: ClaimedTuple, claimedAt: Now): ClaimedJob {
  const [id, , , , , , , , crashes, correlationId, , , cancelRequested, runAtS, ageS, payloadVersion] = tuple
  return {
    id,
    type: tuple[1],
    queue: tuple[2],
    tenant: tuple[3],
    priority: tuple[4],
    payload: tuple[5],
    payloadVersion: payloadVersion ?? 1,
    attempt: tuple[6],
    maxAttempts: tuple[7],
    crashes: crashes ?? 0,
    correlationId: correlationId ?? ownCorrelation(id),
    parentJobId: tuple[10],
    createdBy: tuple[11],
    isCancelRequested: cancelRequested ?? false,
    runAtS,
    orderKey: tuple[16],
    limitKey: tuple[17],
    workflowId: tuple[18],
    ageMs: ageS * 1_000,
    claimedAt,
  }
}

function inOrder(a: ClaimedJob, b: ClaimedJob): number {
  return a.priority - b.priority || a.runAtS - b.runAtS || compareIds(a.id, b.id)
}

export interface Surroundings {
  /** Types that wait in a queue, apart from jobs of tenants. */
  types: readonly (readonly [queue: string, type: string])[]
  /** Those of the queues in which jobs of tenants wait. */
  shared: readonly string[]
  rulesVersion: number
}

export async function lookAround(session: Session, queues: readonly string[]): Promise<Surroundings> {
  const [row] = await session.run<Surroundings>('lookAround', [textArray(queues)])
  return row as Surroundings
}

export interface NextDue {
  /** Until the next waiting job is due; null when nothing waits. */
  waitMs: number | null
  /** Those of the queues in which jobs of tenants wait. */
  sharedQueues: readonly string[]
  rulesVersion: number
}

export async function jobNextDue(session: Session, now: Now, queues: readonly string[]): Promise<NextDue> {
  const [row] = await session.run<NextDue>('jobNextDue', [now, textArray(queues)])
  return row as NextDue
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
  /** In seconds, by the database's clock. */
  startedAtS: number
}

/** `sinceS`: when the oldest of them can have started, by the database's clock; null if nobody knows. */
export function jobRunning(session: Session, workerId: string, sinceS: number | null): Promise<RunningRow[]> {
  return session.run('jobRunning', [workerId, sinceS])
}

export interface Orphan {
  id: string
  runId: string
  type: string
  queue: string
  crashes: number
  cancelRequested: boolean
  workflowId: string | null
}

export function jobOrphans(session: Session, limit: number): Promise<Orphan[]> {
  return session.run('jobOrphans', [limit])
}

export interface Overdue {
  id: string
  runId: string
  type: string
  workflowId: string | null
}

export function jobOverdue(session: Session, now: Now, limit: number): Promise<Overdue[]> {
  return session.run('jobOverdue', [now, limit])
}

/** A job and the keys by which it runs, if any. */
export interface KeyedRow {
  id: string
  queue: string
  tenant: string | null
  orderKey: string | null
  limitKey: string | null
}

export type CancelledRow = KeyedRow & { workflowId: string | null }

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
): Promise<{ id: string; workerId: string }[]> {
  return session.run('jobCancelRunning', [now, plainArray(ids), reason])
}

export function jobRunNow(session: Session, now: Now, ids: readonly string[]): Promise<KeyedRow[]> {
  return session.run('jobRunNow', [now, plainArray(ids)])
}

export function jobPrioritise(
  session: Session,
  now: Now,
  ids: readonly string[],
  { priority, by }: { priority: number; by: string },
): Promise<{ id: string; queue: string; tenant: string | null; before: number }[]> {
  return session.run('jobPrioritise', [now, plainArray(ids), priority, by])
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
  /** Of which workflow it is a step's job. */
  workflowId: string | null
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
  blocked: number
}

export function queueCounts(session: Session, now: Now): Promise<QueueCount[]> {
  return session.run('queueCounts', [now])
}
