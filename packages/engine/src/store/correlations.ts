// What belongs together under one correlation id: jobs, and the executions they had.
import { plainArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { Job } from './jobs.ts'
import { rootOf } from './own-correlation.ts'

/** In order of creation. */
export function jobsByCorrelation(session: Session, correlationId: string, limit: number): Promise<Job[]> {
  return session.run('jobsByCorrelation', [correlationId, rootOf(correlationId), limit])
}

export interface JobRun {
  jobId: string
  attempt: number
  runId: string
  workerId: string | null
  outcome: 'running' | 'completed' | 'cancelled' | 'failed'
  /** Null for a failed attempt that was recorded before this was kept. */
  dueAt: Date | null
  startedAt: Date
  finishedAt: Date | null
  errorClass: string | null
  errorMessage: string | null
}

/** In order of their start. */
export function jobRuns(session: Session, jobIds: readonly string[], limit: number): Promise<JobRun[]> {
  return session.run('jobRuns', [plainArray(jobIds), limit])
}
