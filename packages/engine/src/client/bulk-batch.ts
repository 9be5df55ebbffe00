// A bulk operation, a batch at a time: its canary first, then the jobs that were found, then more of them.
import { type BulkCounts, type BulkRow, type BulkVerdict, bulkLook, bulkNext, bulkRecord } from '../store/bulk.ts'
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
  /** After the batch, for the next one. Undefined: they have to be counted. */
  readonly counts?: BulkCounts | undefined
}

/** Undefined: the operation was forgotten. `known`: the counts after the batch before. */
export async function bulkBatch(
  services: BulkWorkServices,
  id: string,
  { limit, known }: { limit: number; known?: BulkCounts | undefined },
): Promise<BulkProgress | undefined> {
  const { db } = services
  const operation = await bulkLook(db, id, known)
  if (operation === undefined) return undefined
  if (operation.status !== 'running') return { operation, dealt: 0, next: 'done' }
  const { stage } = operation
  if (stage === 'choosing' || stage === 'waiting')
    return { operation, ...(await canaryBatch(services, { ...operation, stage })) }
  // No more than for a second, so that a cancellation is heard.
  const items = await bulkNext(db, id, Math.min(limit, operation.rate))
  if (items.length === 0) {
    if (operation.isFound) return { operation, dealt: 0, next: 'done' }
    const added = await findMore(services, operation, limit)
    const counts = added === undefined ? undefined : { ...countsOf(operation), open: operation.open + added }
    return { operation, dealt: 0, next: 'more', counts }
  }
  const verdicts = await verdictsOn(services, operation, items)
  if (verdicts.length > 0) await bulkRecord(db, id, verdicts)
  const next = verdicts.length === 0 ? 'elsewhere' : 'more'
  return { operation, dealt: verdicts.length, next, counts: countedOn(operation, verdicts) }
}

const countsOf = ({ changed, already, refused, open, hasBefore }: BulkRow): BulkCounts => ({
  ...{ changed, already, refused, open, hasBefore },
})

function countedOn(operation: BulkRow, verdicts: readonly BulkVerdict[]): BulkCounts {
  const of = (outcome: BulkVerdict['outcome']) => verdicts.filter((verdict) => verdict.outcome === outcome).length
  return {
    changed: operation.changed + of('changed'),
    already: operation.already + of('already'),
    refused: operation.refused + of('refused'),
    open: Math.max(0, operation.open - verdicts.length),
    hasBefore: operation.hasBefore || verdicts.some(({ before }) => before !== undefined),
  }
}
