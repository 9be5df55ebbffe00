// Forgetting on demand: archived jobs, and dead letters that were decided about, before housekeeping would.
//
// In batches, each one transaction with its entry in the audit log. If it is cut off, what was done stays done, and the
// next call goes on.
import type { Clock, Now } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { type ArchivedStatus, jobArchivePrune } from '../store/job-changes.ts'
import type { Transaction } from '../store/transaction.ts'
import { author } from './enqueue-options.ts'

export interface PruneOptions {
  /** Only jobs that ended longer ago than this. */
  olderThan: Duration
  /** Only jobs of these types. Default: of every type. */
  types?: readonly string[]
  /** Default: completed, cancelled and dead ones. The letter of a dead one stays. */
  statuses?: readonly ArchivedStatus[]
  /** Who, for the audit log. */
  by: string
  /** Stops after the batch that is under way. */
  signal?: AbortSignal
}

export interface PruneResult {
  /** How many rows were forgotten. */
  pruned: number
  /** False: it was aborted, and there may be more. */
  isComplete: boolean
}

const STATUSES: readonly ArchivedStatus[] = ['completed', 'cancelled', 'dead']
const BATCH = 5_000

export async function pruneJobs(services: { db: Database; clock: Clock }, options: PruneOptions): Promise<PruneResult> {
  const { types = null, statuses = STATUSES } = options
  const unknown = statuses.find((status) => !STATUSES.includes(status))
  if (unknown !== undefined)
    throw new InvalidDefinition(`statuses names "${unknown}": expected some of ${STATUSES.join(', ')}.`)
  const ageMs = ageOf(options.olderThan)
  let after = '0'
  return inBatches(services, options, {
    action: 'job.prune',
    details: { olderThan: options.olderThan, types, statuses },
    async prune(tx, now) {
      const { count, last } = await jobArchivePrune(tx, now, { ageMs, types, statuses, limit: BATCH, after })
      after = last ?? after
      return count
    },
  })
}

export function ageOf(olderThan: Duration): number {
  const ageMs = toMs(olderThan, 'olderThan')
  if (ageMs < 0) throw new InvalidDefinition(`olderThan is ${olderThan}: expected a length of time, like '30d'.`)
  return ageMs
}

export async function inBatches(
  { db, clock }: { db: Database; clock: Clock },
  options: { by: string; signal?: AbortSignal },
  what: {
    action: string
    details: object
    prune(tx: Transaction, now: Now): Promise<number>
  },
): Promise<PruneResult> {
  const by = author(options.by)
  let pruned = 0
  while (!options.signal?.aborted) {
    const count = await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      const gone = await what.prune(tx, now)
      if (gone > 0) await auditWrite(tx, now, { by, action: what.action, details: { ...what.details, pruned: gone } })
      return gone
    }, BATCH_DEADLINE_MS)
    if (count === 0) return { pruned, isComplete: true }
    pruned += count
  }
  return { pruned, isComplete: false }
}

const BATCH_DEADLINE_MS = 60_000
