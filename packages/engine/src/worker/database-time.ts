// Timestamps of claimed jobs arrive as Postgres's text and are parsed only when somebody needs them.
import pg from 'pg'
import type { ClaimedJob } from '../store/jobs.ts'

const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as unknown as (text: string) => Date

/** How old the job was when it was claimed, by the database's clock. */
export function ageMs(job: Pick<ClaimedJob, 'createdAt' | 'startedAt'>): number {
  return parse(job.startedAt).getTime() - parse(job.createdAt).getTime()
}
