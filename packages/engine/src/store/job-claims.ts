// Claims of plain queues: what a worker asks for and gets, what it can know before it asks, and how a claim is given back.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { compareIds } from './job-id.ts'
import { ownCorrelation } from './own-correlation.ts'

/** A claim that finds no more than that has found all there was. */
export const FEW_JOBS = 10

/** Where a job stands in its queue. */
export interface Position {
  /** Counts where a queue is claimed from tenant by tenant. */
  readonly tenant: string | null
  /** Counts where it is claimed from type by type. */
  readonly type: string
  readonly priority: number
  /** Its due time in seconds, as the database says it. */
  readonly runAtS: number
  readonly id: string
}

/** A job and where it stands. */
export interface QueuedJob extends Position {
  readonly queue: string
}

/** A queue, and where to enter it. */
export interface QueueEntered {
  queue: string
  /** Of these priorities, or of these types at these priorities, only what comes after these jobs. Default: everything. */
  behind?: readonly Position[]
}

export interface ClaimRequest {
  queues: readonly (QueueEntered & { limit: number })[]
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
  readonly tenantJobs: number | null
  /** Of which workflow it is a step's job. */
  readonly workflowId: string | null
  /** W3C `traceparent` of the span that enqueued it. */
  readonly traceParent: string | null
  /** For how long it had been due when it was claimed, by the database's clock. */
  readonly waitMs: number
  /** How long ago it was first due when it was claimed, by the database's clock. */
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
  tenantJobs: number | null,
  workflowId: string | null,
  waitS: number,
  traceParent: string | null,
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
    ...(request.byType ? entriesByType(request.queues) : entries(request.queues)),
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

function entries(queues: readonly QueueEntered[]): string[] {
  const [names, , ...positions] = entriesByType(queues)
  return [names as string, ...positions]
}

function entriesByType(queues: readonly QueueEntered[]): string[] {
  const all = queues.flatMap(({ queue, behind = [] }) => behind.map((position) => ({ queue, ...position })))
  all.sort((a, b) => a.priority - b.priority)
  return [
    textArray(all.map(({ queue }) => queue)),
    textArray(all.map(({ type }) => type)),
    plainArray(all.map(({ priority }) => priority)),
    plainArray(all.map(({ runAtS }) => runAtS)),
    plainArray(all.map(({ id }) => id)),
  ]
}

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
    tenantJobs: tuple[18],
    workflowId: tuple[19],
    ageMs: ageS * 1_000,
    // A due time before its enqueue is no wait.
    waitMs: Math.max(0, Math.min(ageS, tuple[20])) * 1_000,
    traceParent: tuple[21],
    claimedAt,
  }
}

function inOrder(a: ClaimedJob, b: ClaimedJob): number {
  return a.priority - b.priority || a.runAtS - b.runAtS || compareIds(a.id, b.id)
}

export type TypeInQueue = readonly [queue: string, type: string]

export interface Surroundings {
  /** Types that wait in a queue, apart from jobs of tenants and from those that need not be looked for. */
  types: readonly TypeInQueue[]
  /** Those of the queues in which jobs of tenants wait. */
  shared: readonly string[]
  rulesVersion: number
}

export async function lookAround(
  session: Session,
  queues: readonly string[],
  familiar: readonly TypeInQueue[],
): Promise<Surroundings> {
  const [row] = await session.run<Surroundings>('lookAround', [
    textArray(queues),
    textArray(familiar.map(([queue]) => queue)),
    textArray(familiar.map(([, type]) => type)),
  ])
  return row as Surroundings
}

export interface NextDue {
  queue: string
  /** Until the next waiting job is due; null when nothing waits. */
  waitMs: number | null
  /** Jobs of tenants wait in it. */
  isShared: boolean
  rulesVersion: number
}

type NextDueTuple = readonly [queue: string, waitMs: number | null, isShared: boolean, rulesVersion: number]

/** One answer for each of the queues. */
export async function jobNextDue(session: Session, now: Now, queues: readonly QueueEntered[]): Promise<NextDue[]> {
  const values = [now, textArray(queues.map(({ queue }) => queue)), ...entries(queues)]
  const rows = await session.tuples<NextDueTuple>('jobNextDue', values, { keepsPlan: true })
  return rows.map(([queue, waitMs, isShared, rulesVersion]) => ({ queue, waitMs, isShared, rulesVersion }))
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
