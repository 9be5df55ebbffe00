// Worker leases.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface NewWorker {
  id: string
  host: string
  pid: number
  version: string
  lanes: Record<string, number>
  types: readonly string[]
  /** That its code declares. */
  schedules: readonly string[]
  /** The hash of what its code declares; null: it declares nothing. */
  program: string | null
  ttlMs: number
  /** The id under which it worked before it lost its lease: it keeps what was asked of it. */
  formerId?: string | undefined
}

/** What an operator asks of a worker: to take no more jobs, or to stop. */
export interface WorkerRequest {
  readonly kind: 'quiet' | 'stop'
  readonly by: string
  readonly reason: string
}

/** What a worker learns when it renews its lease. */
export interface HeldLease {
  readonly request: WorkerRequest | null
}

interface LeaseRow {
  request: WorkerRequest['kind'] | null
  by: string
  reason: string
}

/** `report`: JSON text. Undefined: this id was used before, and its lease has ended. */
export async function workerRegister(
  session: Session,
  now: Now,
  worker: NewWorker,
  report: string | null = null,
): Promise<HeldLease | undefined> {
  const rows = await session.run<LeaseRow>('workerRegister', [
    now,
    worker.id,
    worker.host,
    worker.pid,
    worker.version,
    JSON.stringify(worker.lanes),
    worker.ttlMs,
    textArray(worker.types),
    textArray(worker.schedules),
    worker.program,
    report,
    worker.formerId ?? null,
  ])
  return heldLease(rows)
}

/** `report`: JSON text. Undefined: the lease was ended, and there is no way back under this id. */
export async function workerBeat(
  session: Session,
  now: Now,
  { id, ttlMs }: Pick<NewWorker, 'id' | 'ttlMs'>,
  report: string | null = null,
): Promise<HeldLease | undefined> {
  return heldLease(await session.run<LeaseRow>('workerBeat', [now, id, ttlMs, report]))
}

function heldLease([row]: readonly LeaseRow[]): HeldLease | undefined {
  if (row === undefined) return undefined
  const { request: kind, by, reason } = row
  return { request: kind === null ? null : { kind, by, reason } }
}

export interface WorkerOverload {
  why: string
  since: Date
  /** Those that yield. */
  queues: readonly string[]
}

export async function workerOverload(session: Session, id: string, overload: WorkerOverload | null): Promise<void> {
  await session.run('workerOverload', [id, overload === null ? null : JSON.stringify(overload)])
}

/** False: it had ended before, or never was. */
export async function workerEnd(session: Session, now: Now, id: string, reason: string): Promise<boolean> {
  return (await session.run('workerEnd', [now, id, reason])).length > 0
}

export interface KnownWork {
  readonly queues: readonly string[]
  readonly types: readonly string[]
}

/** Queues in which something waits, and types that live workers run. */
export async function workKnown(session: Session): Promise<KnownWork> {
  const [row] = await session.run<KnownWork>('workKnown', [])
  return row as KnownWork
}

export interface DeadWorker {
  id: string
  host: string
  pid: number
}

export interface RescueNeeds {
  /** A lease ran out. */
  expired: boolean
  /** A job is running on a worker that holds no lease any more. */
  orphaned: boolean
  /** A run is beyond its deadline. */
  overdue: boolean
  /** Keyed jobs wait for admission. */
  blocked: boolean
}

/** `now` is for deadlines only. Reads and decides nothing. */
export async function rescueNeeds(session: Session, now: Now): Promise<RescueNeeds> {
  const [needs] = await session.run<RescueNeeds>('rescueNeeds', [now])
  return needs as RescueNeeds
}

export function workerExpire(session: Session, now: Now): Promise<DeadWorker[]> {
  return session.run('workerExpire', [now])
}

export async function workerPrune(session: Session, now: Now, ageMs: number): Promise<number> {
  return (await session.run('workerPrune', [now, ageMs])).length
}
