// Claims of plain queues: what a worker asks for and gets, what it can know before it asks, and how a claim is given back.
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { compareIds } from './job-id.ts'
import type { Now } from './jobs.ts'
import { ownCorrelation } from './own-correlation.ts'

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
  const values = [now, textArray(queues)]
  const rows = await session.tuples<[number | null, string[], number]>('jobNextDue', values, { keepsPlan: true })
  const [waitMs, sharedQueues, rulesVersion] = rows[0] as [number | null, string[], number]
  return { waitMs, sharedQueues, rulesVersion }
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
