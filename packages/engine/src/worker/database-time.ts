// Timestamps of claimed jobs arrive as Postgres's text and are parsed only when somebody needs them.
import type { ClaimedJob } from '../store/jobs.ts'
import { timestampFrom } from '../store/value-types.ts'

/**
 * How old the job is, by the database's clock: its age at the claim and what has passed here since, or what a clock
 * that is moved by hand says.
 */
export function ageMs(
  job: Pick<ClaimedJob, 'createdAt' | 'startedAt'>,
  now: Date | null,
  sinceClaimMs: number,
): number {
  const createdMs = timestampFrom(job.createdAt).getTime()
  if (now !== null) return now.getTime() - createdMs
  return timestampFrom(job.startedAt).getTime() - createdMs + sinceClaimMs
}
