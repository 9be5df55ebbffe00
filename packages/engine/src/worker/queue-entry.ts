// Where claims enter a queue.
//
// What was claimed leaves dead entries at the head of the index until vacuum comes, and none comes as long as somebody
// keeps a transaction open: then a claim that begins at the head walks over all that has ever been claimed. After a long
// walk the next ones begin behind the last claimed job. They miss what appears in front of it: what was given
// back, or committed late. So that is a matter of moments: the longer the walk from the head, the rarer, and it takes a
// twentieth of the time at most.

import type { ClaimedJob, Position } from '../store/job-claims.ts'
import { compareIds } from '../store/job-id.ts'

/** A walk as short as this need not be any shorter. */
const QUICK_MS = 5
const TIMES_AS_RARE = 20
const MAX_HEADLESS_MS = 2_000

export class QueueEntry {
  #last: Position | undefined
  #headDueMs = 0

  /** Behind which job to begin; undefined: at the head. */
  behind(nowMs: number): Position | undefined {
    return nowMs < this.#headDueMs ? this.#last : undefined
  }

  /** How long until the next claim begins at the head. */
  untilHead(nowMs: number): number {
    return Math.max(0, this.#headDueMs - nowMs)
  }

  /** What a claim took from this queue, in order, and how long it walked. */
  claimed(jobs: readonly ClaimedJob[], claim: { isFromHead: boolean; sentAtMs: number; walkMs: number }): void {
    // One that was in a crash comes from elsewhere.
    const last = jobs.findLast((job) => job.crashes === 0)
    if (last !== undefined && (claim.isFromHead || isBehind(last, this.#last))) this.#last = positionOf(last)
    if (!claim.isFromHead) return
    const rest = claim.walkMs < QUICK_MS ? 0 : Math.min(MAX_HEADLESS_MS, claim.walkMs * TIMES_AS_RARE)
    this.#headDueMs = claim.sentAtMs + rest
  }
}

const positionOf = ({ priority, runAtS, id }: Position): Position => ({ priority, runAtS, id })

/** Only within a priority: an urgent job that was claimed in between says nothing about the place further down. */
function isBehind(job: Position, last: Position | undefined): boolean {
  if (last === undefined || job.priority !== last.priority) return last === undefined
  return job.runAtS > last.runAtS || (job.runAtS === last.runAtS && compareIds(job.id, last.id) > 0)
}
