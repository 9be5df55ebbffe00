// Timestamps of claimed jobs arrive as Postgres's text and are parsed only when somebody needs them.
import type { ClaimedJob } from '../store/jobs.ts'
import { timestampFrom } from '../store/value-types.ts'

/** How old the job was when it was claimed, by the database's clock. */
export function ageMs(job: Pick<ClaimedJob, 'createdAt' | 'startedAt'>): number {
  return timestampFrom(job.startedAt).getTime() - timestampFrom(job.createdAt).getTime()
}
