// What explains why a job waits.
import type { Now } from '../clock.ts'
import type { WorkflowStatus } from '../workflow/graph.ts'
import type { Session } from './db.ts'
import type { ItemKind } from './workflow-items.ts'

export interface AbleWorkers {
  live: number
  /** Of those, with a handler for the type. */
  able: number
}

export async function explainWorkers(session: Session, type: string): Promise<AbleWorkers> {
  const [row] = await session.run<AbleWorkers>('explainWorkers', [type])
  return row as AbleWorkers
}

export interface RunWorker {
  host: string
  pid: number
  /** Since its last heartbeat. */
  silentMs: number
  leaseMs: number
  expiresAt: Date
  hasExpired: boolean
  /** Null: its lease was not ended. */
  endedReason: string | null
}

export async function explainRun(session: Session, workerId: string): Promise<RunWorker | undefined> {
  const [row] = await session.run<RunWorker>('explainRun', [workerId])
  return row
}

/** Of live workers that let the queue yield. */
export function explainYielding(session: Session, queue: string): Promise<{ why: string; since: Date }[]> {
  return session.run('explainOverload', [queue])
}

export interface Ahead {
  /** Due jobs of the same tenant, or without one, that come first. */
  own: number
  /** Of other tenants, those with most first. */
  others: readonly (readonly [tenant: string, jobs: number])[]
  running: number
  /** In the last five minutes. */
  ended: number
}

export async function explainAhead(session: Session, now: Now, jobId: string): Promise<Ahead> {
  const [row] = await session.run<Ahead>('explainAhead', [now, jobId])
  return row as Ahead
}

export interface JobPlace {
  id: string
  name: string
  step: string
  kind: ItemKind
  status: WorkflowStatus
  reason: string | null
  held: string | null
}

export async function explainWorkflow(session: Session, jobId: string): Promise<JobPlace | undefined> {
  const [row] = await session.run<JobPlace>('explainWorkflow', [jobId])
  return row
}

export function limitHolders(
  session: Session,
  of: { limit: string; tenant: string | null; queue: string | null; type: string | null },
  limit: number,
): Promise<{ id: string; startedAt: Date }[]> {
  return session.run('limitHolders', [of.limit, of.tenant, of.queue, of.type, limit])
}
