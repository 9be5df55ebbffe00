// Runs as the database knows them: those of one worker, those whose worker is gone, and those beyond their deadline.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

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
  workerId: string
  /** Null with pid and reason: the worker is forgotten. */
  host: string | null
  pid: number | null
  endedReason: string | null
  attempt: number
  tenant: string | null
  startedAt: Date | null
  traceParent: string | null
  correlationId: string
}

export function jobOrphans(session: Session, limit: number): Promise<Orphan[]> {
  return session.run('jobOrphans', [limit])
}

export interface Overdue {
  id: string
  runId: string
  type: string
  queue: string
  tenant: string | null
  workflowId: string | null
}

export function jobOverdue(session: Session, now: Now, limit: number): Promise<Overdue[]> {
  return session.run('jobOverdue', [now, limit])
}
