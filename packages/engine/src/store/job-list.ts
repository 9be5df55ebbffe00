import type { Session } from './db.ts'
import type { Job, JobStatus } from './jobs.ts'
import { rootOf } from './own-correlation.ts'

export interface JobFilter {
  status?: JobStatus
  queue?: string
  type?: string
  tenant?: string
  correlationId?: string
  /** Only jobs with a smaller id: the last one of the page before. */
  before?: string
  /** Default 50, at most 1000. */
  limit?: number
}

/** Newest first. */
export function jobList(session: Session, filter: JobFilter): Promise<Job[]> {
  return session.run('jobList', [
    filter.status ?? null,
    filter.queue ?? null,
    filter.type ?? null,
    filter.tenant ?? null,
    filter.correlationId ?? null,
    filter.before ?? null,
    filter.limit ?? 50,
    filter.correlationId === undefined ? null : rootOf(filter.correlationId),
  ])
}
