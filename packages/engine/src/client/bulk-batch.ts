// A bulk operation, a batch at a time: its canary first, then the jobs that were found, then more of them.
import { type BulkRow, bulkList, bulkNext, bulkRecord } from '../store/bulk.ts'
import { canaryBatch } from './bulk-canary.ts'
import { findMore } from './bulk-find.ts'
import { type BulkWorkServices, verdictsOn } from './bulk-work.ts'

export interface BulkProgress {
  readonly operation: BulkRow
  /** How many jobs were dealt with. */
  readonly dealt: number
  readonly next:
    | 'more'
    | 'done'
    /** Only workers of another program can deal with the next jobs. */
    | 'elsewhere'
    /** Until the canaries have ended. */
    | 'wait'
}

/** Undefined: the operation was forgotten. */
export async function bulkBatch(
  services: BulkWorkServices,
  id: string,
  limit: number,
): Promise<BulkProgress | undefined> {
  const { db } = services
  const [operation] = await bulkList(db, { id, limit: 1 })
  if (operation === undefined) return undefined
  if (operation.status !== 'running') return { operation, dealt: 0, next: 'done' }
  const { stage } = operation
  if (stage === 'choosing' || stage === 'waiting')
    return { operation, ...(await canaryBatch(services, { ...operation, stage })) }
  // No more than for a second, so that a cancellation is heard.
  const items = await bulkNext(db, id, Math.min(limit, operation.rate))
  if (items.length === 0) {
    if (operation.isFound) return { operation, dealt: 0, next: 'done' }
    await findMore(services, operation, limit)
    return { operation, dealt: 0, next: 'more' }
  }
  const verdicts = await verdictsOn(services, operation, items)
  if (verdicts.length > 0) await bulkRecord(db, id, verdicts)
  return { operation, dealt: verdicts.length, next: verdicts.length === 0 ? 'elsewhere' : 'more' }
}
