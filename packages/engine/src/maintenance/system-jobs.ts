// Runs the jobs of Millrace itself: bulk operations.
//
// Every worker process looks when it is told that there is one, and every quarter of a minute. It takes one job at a time, outside
// of its lanes, so that such a job never has a slot that is meant for others. The claim is that of any other job, so one
// process has it, and the rescuer frees it if that process dies; the next run goes on where the records end.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bulkBatch } from '../client/bulk-batch.ts'
import type { BulkWorkServices } from '../client/bulk-work.ts'
import { BULK_TYPE, SYSTEM_QUEUE } from '../client/system-job.ts'
import { monotonicMs } from '../clock.ts'
import { failureFrom } from '../failure.ts'
import { isNoPartition } from '../sql-state.ts'
import { type BulkCounts, type BulkRow, bulkEnd } from '../store/bulk.ts'
import { type ClaimedJob, jobClaim } from '../store/job-claims.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { pauseList } from '../store/pauses.ts'
import { progressWrite } from '../store/progress.ts'
import { type Settlement, settle } from '../store/settlements.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 15_000
/** A run ends so that others have their turn, and goes on later. */
const RUN_MS = 20_000
const STUCK_MS = 10 * 60_000
const BATCH = 100
const RETRY_MS = 5_000
/** A job that needs another program's worker is left to it for so long. */
const ELSEWHERE_MS = 2_000

export interface SystemJobServices extends BulkWorkServices {
  workerId(): string
  mayClaim(): boolean
}

const LATER_MS = 200
/** A canary that has just begun ends soon; one that waits for its retries does not. */
const CANARY_MS = { share: 0.1, least: 1_000, most: 10_000 }

interface Result {
  isMore: boolean
  /** Look again after so long: the job was put off. */
  againMs?: number
}

export class SystemJobs implements Ticker<Result> {
  readonly name = 'system jobs'
  readonly #services: SystemJobServices
  #runId: string | undefined
  #leavesUntilMs = 0
  #againAtMs = 0

  constructor(services: SystemJobServices) {
    this.#services = services
  }

  /** Is this claim one of ours that still runs? */
  isOpen(runId: string): boolean {
    return this.#runId === runId
  }

  async tick(stopping?: AbortSignal): Promise<Result> {
    const { db, clock, mayClaim, workerId } = this.#services
    if (!mayClaim()) return { isMore: false }
    if (monotonicMs() < this.#leavesUntilMs) return this.#later()
    const runId = randomUUID()
    this.#runId = runId
    try {
      const [job] = await jobClaim(db, clock.databaseNow(), {
        queues: [{ queue: SYSTEM_QUEUE, limit: 1 }],
        types: [{ type: BULK_TYPE, stuckAfterMs: STUCK_MS }],
        ...{ runId, workerId: workerId(), suspectQueues: [SYSTEM_QUEUE], byType: false },
      })
      if (job === undefined) return this.#later()
      const settlement = await this.#run(job, runId, stopping)
      await this.#settle(settlement)
      // Others look only every quarter of a minute, unless they are told that the job is free.
      const isForOthers = stopping?.aborted === true || monotonicMs() < this.#leavesUntilMs
      if (settlement.kind === 'requeue' && isForOthers) this.#services.waker.wake([SYSTEM_QUEUE])
      // What was put off is for the others, or for later.
      if (settlement.kind !== 'requeue' || settlement.delayMs === 0) return { isMore: true }
      this.#againAtMs = Math.max(this.#leavesUntilMs, monotonicMs() + (settlement.delayMs ?? 0))
      return this.#later()
    } finally {
      this.#runId = undefined
    }
  }

  /** Soon after the job is due that was put off last, or after the usual while. */
  #later(): Result {
    const againMs = this.#againAtMs - monotonicMs()
    return { isMore: false, ...(againMs > 0 && { againMs: Math.min(againMs * 1.2 + LATER_MS, INTERVAL_MS) }) }
  }

  delayAfter({ isMore, againMs = INTERVAL_MS }: Result): number {
    return isMore ? 0 : againMs
  }

  async #run(job: ClaimedJob, runId: string, stopping: AbortSignal | undefined): Promise<Settlement> {
    const key = { id: job.id, runId }
    const { operation } = job.payload as { operation: string }
    try {
      if (await this.#isPaused()) return putOff(key, INTERVAL_MS)
      if (job.isCancelRequested) {
        await this.#end(operation, { status: 'cancelled', by: 'a cancelled job' })
        return { kind: 'finish', ...key, status: 'cancelled', result: null, reason: null, retention: 'standard' }
      }
      return (await this.#work(key, operation, stopping)) ?? completed(key)
    } catch (error) {
      const failure = { ...failureFrom(error), logs: null }
      if (job.attempt < job.maxAttempts)
        return { kind: 'requeue', ...key, delayMs: RETRY_MS, refund: false, crash: 'clear', failure }
      await this.#end(operation, { status: 'failed', error: failure.message })
      return { kind: 'bury', ...key, reason: 'exhausted', failure, retention: 'standard', drop: false }
    }
  }

  /** Undefined: it is done. */
  async #work(key: { id: string; runId: string }, id: string, stopping?: AbortSignal): Promise<Settlement | undefined> {
    const endMs = monotonicMs() + RUN_MS
    // Once a run the items are counted; from then on the run knows what it did.
    let known: BulkCounts | undefined
    while (!stopping?.aborted) {
      const startedMs = monotonicMs()
      const batch = await bulkBatch(this.#services, id, { limit: BATCH, known })
      if (batch === undefined) return undefined
      const { operation, dealt, next } = batch
      known = batch.counts
      await this.#progress(key, operation)
      if (next === 'done') {
        if (operation.status === 'running') await this.#end(id, { status: 'completed' })
        return undefined
      }
      if (next === 'wait') return putOff(key, canaryDelay(operation))
      if (next === 'elsewhere') {
        this.#leavesUntilMs = monotonicMs() + ELSEWHERE_MS
        return putOff(key, 1)
      }
      if (monotonicMs() > endMs) break
      const restMs = (dealt / operation.rate) * 1_000 - (monotonicMs() - startedMs)
      if (restMs > 0) await sleep(restMs, undefined, stopping && { signal: stopping }).catch(() => {})
    }
    return putOff(key, 0)
  }

  async #progress(key: { id: string; runId: string }, operation: BulkRow): Promise<void> {
    const { db, clock } = this.#services
    const { changed, already, refused, expected, isCapped } = operation
    const done = changed + already + refused
    const progress = { done, total: isCapped ? null : Math.max(expected, done), note: operation.action }
    await progressWrite(db, clock.databaseNow(), [{ ...key, ...progress }])
  }

  async #end(id: string, end: Parameters<typeof bulkEnd>[3]): Promise<void> {
    await bulkEnd(this.#services.db, this.#services.clock.databaseNow(), id, end)
  }

  async #isPaused(): Promise<boolean> {
    const { db, clock } = this.#services
    const pauses = await pauseList(db, clock.databaseNow())
    return pauses.some(({ queue, type, tenant }) => queue === SYSTEM_QUEUE && type === null && tenant === null)
  }

  async #settle(settlement: Settlement): Promise<void> {
    const { db, clock } = this.#services
    const write = () => settle(db, clock.databaseNow(), [settlement])
    await write().catch(async (error: unknown) => {
      if (!isNoPartition(error)) throw error
      await ensurePartitions(db, clock.databaseNow())
      await write()
    })
  }
}

/** By the clock of this machine: it decides only how often to look. */
function canaryDelay({ createdAt }: BulkRow): number {
  const ageMs = Date.now() - createdAt.getTime()
  return Math.min(CANARY_MS.most, Math.max(CANARY_MS.least, ageMs * CANARY_MS.share))
}

const putOff = (key: { id: string; runId: string }, delayMs: number): Settlement => ({
  kind: 'requeue',
  ...key,
  delayMs,
  refund: true,
  crash: 'clear',
  failure: null,
})

const completed = (key: { id: string; runId: string }): Settlement => ({
  kind: 'finish',
  ...key,
  status: 'completed',
  result: null,
  reason: null,
  retention: 'standard',
})
