// How jobs ended, for whoever awaits it.
import { plainArray } from './arrays.ts'
import type { Session } from './db.ts'
import { type JobProgress, progressOf, type StoredProgress } from './progress.ts'

export interface EndedJob {
  id: string
  type: string
  tenant: string | null
  workflowId: string | null
  status: 'completed' | 'cancelled' | 'dead'
  reason: string | null
  error: string | null
  result: unknown
  /** False: the handler returned nothing. */
  hasResult: boolean
}

/** What a look at a job found. */
export type Seen = { type: string; ended: EndedJob | undefined; progress: JobProgress | null }

/**
 * What is known about these jobs, by id; of some, nothing. Two statements, because almost every look finds the jobs
 * alive, and the archive has a partition for every day. A job that ends between the two is found by the second.
 */
export async function lookAt(session: Session, ids: readonly string[], deadlineMs: number): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>()
  const live = await session.run<{ id: string; type: string; progress: StoredProgress }>('jobLive', [plainArray(ids)], {
    deadlineMs,
  })
  for (const { id, type, progress } of live) seen.set(id, { type, ended: undefined, progress: progressOf(progress) })
  const others = ids.filter((id) => !seen.has(id))
  if (others.length === 0) return seen
  const rows = await session.run<EndedJob>('jobEnded', [plainArray(others)], { deadlineMs })
  for (const row of rows) seen.set(row.id, { type: row.type, ended: row, progress: null })
  return seen
}
