// Looking at jobs and changing their course from outside.
import type { Clock, Now } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import { isNoPartition } from '../sql-state.ts'
import type { Database } from '../store/db.ts'
import { type JobEvent, jobEvents } from '../store/history.ts'
import { type CancelledRow, jobCancelRunning, jobCancelWaiting, jobRunNow } from '../store/job-changes.ts'
import { isJobId } from '../store/job-id.ts'
import { type JobFilter, jobList } from '../store/job-list.ts'
import { type Job, type JobAttempt, jobAttempts, jobGet, type QueueCount, queueCounts } from '../store/jobs.ts'
import { workKeysOf } from '../store/keyed-work.ts'
import { type JobStep, stepList } from '../store/once-keys.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { Herald } from './herald.ts'
import { shownJob } from './protect.ts'
import type { Waker } from './waker.ts'

export type CancelResult =
  /** It was waiting, and is in the archive now. */
  | 'cancelled'
  /** It is running: its worker was asked to stop it, and it ends as cancelled if the handler heeds the signal. */
  | 'requested'
  | 'already_finished'
  | 'not_found'

const MAX_PAGE = 1_000
const BATCH = 1_000

export class JobManager {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #waker: Waker
  readonly #herald: Herald
  readonly #admitter: Admitter
  readonly #onStepsEnded: (workflowIds: readonly string[]) => void

  constructor(services: {
    db: Database
    clock: Clock
    registry: Registry
    waker: Waker
    herald: Herald
    admitter: Admitter
    /** Jobs of these workflows have ended. */
    onStepsEnded(workflowIds: readonly string[]): void
  }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#waker = services.waker
    this.#herald = services.herald
    this.#admitter = services.admitter
    this.#onStepsEnded = services.onStepsEnded
  }

  async cancel(id: string, reason: string): Promise<CancelResult> {
    if (!isJobId(id)) return 'not_found'
    const { cancelled, requested } = await this.cancelMany([id], reason)
    if (cancelled.length > 0) return 'cancelled'
    if (requested.length > 0) return 'requested'
    return (await jobGet(this.#db, id)) === undefined ? 'not_found' : 'already_finished'
  }

  /** Those that waited are cancelled, those that run were asked to stop, unless they may finish; the others are over. */
  async cancelMany(
    ids: readonly string[],
    reason: string,
    { onlyWaiting = false }: { onlyWaiting?: boolean } = {},
  ): Promise<{ cancelled: string[]; requested: string[] }> {
    const cancelled: string[] = []
    const requested: string[] = []
    for (let from = 0; from < ids.length; from += BATCH) {
      let open = ids.slice(from, from + BATCH)
      // A job may pass from waiting to running and back between two statements, so waiting is asked twice.
      for (let round = 0; round < (onlyWaiting ? 1 : 2) && open.length > 0; round++) {
        const done = await this.#cancelBatch(open, reason, onlyWaiting)
        cancelled.push(...done.cancelled)
        requested.push(...done.requested)
        const settled = new Set([...done.cancelled, ...done.requested])
        open = open.filter((id) => !settled.has(id))
      }
    }
    return { cancelled, requested }
  }

  async #cancelBatch(
    ids: readonly string[],
    reason: string,
    onlyWaiting: boolean,
  ): Promise<{ cancelled: string[]; requested: string[] }> {
    const now = this.#clock.databaseNow()
    const ended = await this.#cancelWaiting(now, ids, reason)
    const cancelled = ended.map(({ id }) => id)
    if (cancelled.length > 0) await this.#herald.tell(cancelled)
    await this.#admitter.admit(ended.flatMap(workKeysOf))
    this.#onStepsEnded(ended.flatMap(({ workflowId }) => workflowId ?? []))
    if (onlyWaiting) return { cancelled, requested: [] }
    const asked = await jobCancelRunning(this.#db, now, ids, reason)
    const workers = new Set(asked.map(({ workerId }) => workerId))
    if (workers.size > 0)
      await this.#waker.tellWorkers([...workers].map((workerId) => ({ kind: 'reconcile', workerId })))
    return { cancelled, requested: asked.map(({ id }) => id) }
  }

  /** Nobody may have made today's partitions: no worker has run for days, or a test has moved time. */
  async #cancelWaiting(now: Now, ids: readonly string[], reason: string): Promise<CancelledRow[]> {
    const { retentions } = this.#registry
    const cancelWaiting = () => this.#db.transaction((tx) => jobCancelWaiting(tx, now, ids, reason, retentions))
    try {
      return await cancelWaiting()
    } catch (error) {
      if (!isNoPartition(error)) throw error
      await ensurePartitions(this.#db, now)
      return await cancelWaiting()
    }
  }

  /** Makes a waiting job due now. False: it is not waiting. */
  async runNow(id: string): Promise<boolean> {
    if (!isJobId(id)) return false
    const rows = await jobRunNow(this.#db, this.#clock.databaseNow(), [id])
    this.#waker.wake(rows.map((row) => row.queue))
    await this.#admitter.admit(rows.flatMap(workKeysOf))
    return rows.length > 0
  }

  async get(id: string): Promise<Job | undefined> {
    const job = isJobId(id) ? await jobGet(this.#db, id) : undefined
    return job && shownJob(this.#registry, job)
  }

  async list(filter: JobFilter): Promise<Job[]> {
    const { before, limit = 50 } = filter
    if (before !== undefined && !isJobId(before))
      throw new InvalidDefinition(`before is ${JSON.stringify(before)}: expected the id of a job.`)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
      throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
    const jobs = await jobList(this.#db, filter)
    return jobs.map((job) => shownJob(this.#registry, job))
  }

  async attempts(id: string): Promise<JobAttempt[]> {
    return isJobId(id) ? jobAttempts(this.#db, id) : []
  }

  async history(id: string): Promise<JobEvent[]> {
    return isJobId(id) ? jobEvents(this.#db, id) : []
  }

  async steps(id: string): Promise<JobStep[]> {
    return isJobId(id) ? stepList(this.#db, id) : []
  }

  queues(): Promise<QueueCount[]> {
    return queueCounts(this.#db, this.#clock.databaseNow())
  }
}
