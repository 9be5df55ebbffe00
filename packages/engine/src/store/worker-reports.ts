// What workers report with their heartbeats, and what is asked of them.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'
import type { WorkerRequest } from './workers.ts'

/** As it is stored. Times are relative, because the clock of the worker's machine may be wrong. */
export interface StoredReport {
  state: 'working' | 'quiet' | 'stopping'
  lanes: { name: string; slots: number; running: number; buffered: number; queues: string[] }[]
  /** Handlers under way. */
  running: number
  /** The longest-running ones. */
  runs: { jobId: string; type: string; forMs: number }[]
  /** A job that runs here after its last run ended in a crash. Each process runs one such job at a time. */
  suspectJobId: string | null
  memory: { percent: number; isHigh: boolean }
  /** How late the event loop was at most since the report before. */
  loopLagMs: number
  /** Notifications arrive; otherwise it polls. */
  isListening: boolean
  /** Of limits with `perProcess`. */
  permits: { limit: string; most: number; free: number; types: string[] }[]
  /** How old the report was when the heartbeat carried it: a blocked event loop cannot make a new one. */
  ageMs: number
}

export interface WorkerRow {
  id: string
  host: string
  pid: number
  version: string
  lanes: Record<string, number>
  types: string[]
  startedAt: Date
  heartbeatAt: Date
  expiresAt: Date
  /** Since its last heartbeat, by the database's clock. */
  silentMs: number
  report: StoredReport | null
  request: WorkerRequest['kind'] | null
  requestedBy: string | null
  requestReason: string | null
  requestedAt: Date | null
}

/** Those that hold a lease, oldest first. */
export function workerList(session: Session): Promise<WorkerRow[]> {
  return session.run('workerList', [])
}

export interface NewWorkerRequest {
  id: string
  /** Null: whatever was asked is taken back. */
  kind: WorkerRequest['kind'] | null
  by: string
  reason: string
}

/** False: it is gone, does not report, or was asked to stop. */
export async function workerRequest(session: Session, now: Now, request: NewWorkerRequest): Promise<boolean> {
  const { id, kind, by, reason } = request
  return (await session.run('workerRequest', [now, id, kind, by, reason])).length > 0
}
