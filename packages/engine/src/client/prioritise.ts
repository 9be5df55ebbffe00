// A person gives a waiting job another priority.
import type { Clock } from '../clock.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { historyBy } from '../store/history.ts'
import { jobPrioritise } from '../store/job-changes.ts'
import { isJobId } from '../store/job-id.ts'
import { type Job, jobGet } from '../store/jobs.ts'
import { author, wholeNumber } from './enqueue-options.ts'
import type { Waker } from './waker.ts'

export type PrioritiseResult =
  /** `before`: the priority it had. */
  | { status: 'prioritised'; before: number; priority: number }
  /** It runs at this moment: nothing was changed. */
  | { status: 'running' }
  | { status: 'finished'; as: Job['status'] }
  | { status: 'not_found' }

export interface PrioritiseOptions {
  /** Who: it is written into the audit log. */
  by: string
}

export async function prioritiseJob(
  { db, clock, waker }: { db: Database; clock: Clock; waker: Waker },
  id: string,
  priority: number,
  options: PrioritiseOptions,
): Promise<PrioritiseResult> {
  wholeNumber(priority, 'priority', 0)
  const by = author(options.by)
  if (!isJobId(id)) return { status: 'not_found' }
  const changed = await db.transaction(async (tx) => {
    const now = clock.databaseNow()
    await historyBy(tx, by)
    const [row] = await jobPrioritise(tx, now, [id], priority)
    if (row === undefined) return undefined
    const { before, tenant } = row
    await auditWrite(tx, now, { by, action: 'job.prioritise', target: id, tenant, details: { before, priority } })
    return row
  })
  if (changed !== undefined) {
    waker.wake([changed.queue])
    return { status: 'prioritised', before: changed.before, priority }
  }
  const job = await jobGet(db, id)
  if (job === undefined) return { status: 'not_found' }
  return job.finishedAt === null ? { status: 'running' } : { status: 'finished', as: job.status }
}
