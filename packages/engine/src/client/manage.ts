// Looking at jobs and changing their course from outside.
import type { Clock, Now } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import type { Admitter } from '../governance/admitter.ts'
import { isNoPartition } from '../sql-state.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { historyBy, type JobEvent, jobEvents } from '../store/history.ts'
import { type CancelledRow, jobCancelRunning, jobCancelWaiting, jobRunNow } from '../store/job-changes.ts'
import { isJobId } from '../store/job-id.ts'
import { type JobAttempt, type JobDetails, jobAttempts, jobGet } from '../store/jobs.ts'
import { workKeysOf } from '../store/keyed-work.ts'
import { type JobStep, stepList } from '../store/once-keys.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { Transaction } from '../store/transaction.ts'
import { reportCancelled } from './count-events.ts'
import { author } from './enqueue-options.ts'
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

interface Cancellation {
  reason: string
  /** Jobs that run may finish. */
  onlyWaiting?: boolean
  /** Who decided it, for the history of the jobs. */
  by?: string
  /** Each job gets an entry of its own in the audit log. */
  isAudited?: boolean
}

const BATCH = 1_000

export class JobManager {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #waker: Waker
  readonly #herald: Herald
  readonly #admitter: Admitter
  readonly #events: Events
  readonly #onStepsEnded: (workflowIds: readonly string[]) => void

  constructor(services: {
    db: Database
    clock: Clock
    registry: Registry
    waker: Waker
    herald: Herald
    admitter: Admitter
    events: Events
    /** Jobs of these workflows have ended. */
    onStepsEnded(workflowIds: readonly string[]): void
  }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#waker = services.waker
    this.#herald = services.herald
    this.#admitter = services.admitter
    this.#events = services.events
    this.#onStepsEnded = services.onStepsEnded
  }

  async cancel(id: string, options: { by: string; reason?: string }): Promise<CancelResult> {
    const by = author(options.by)
    const reason = options.reason ?? `cancelled by ${by}`
    if (!isJobId(id)) return 'not_found'
    const { cancelled, requested } = await this.cancelMany([id], { reason, by, isAudited: true })
    if (cancelled.length > 0) return 'cancelled'
    if (requested.length > 0) return 'requested'
    return (await jobGet(this.#db, id)) === undefined ? 'not_found' : 'already_finished'
  }

  /** Those that waited are cancelled, those that run were asked to stop, unless they may finish; the others are over. */
  async cancelMany(
    ids: readonly string[],
    cancellation: Cancellation,
  ): Promise<{ cancelled: string[]; requested: string[] }> {
    const rounds = cancellation.onlyWaiting ? 1 : 2
    const cancelled: string[] = []
    const requested: string[] = []
    for (let from = 0; from < ids.length; from += BATCH) {
      let open = ids.slice(from, from + BATCH)
      // A job may pass from waiting to running and back between two statements, so waiting is asked twice.
      for (let round = 0; round < rounds && open.length > 0; round++) {
        const done = await this.#cancelBatch(open, cancellation)
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
    cancellation: Cancellation,
  ): Promise<{ cancelled: string[]; requested: string[] }> {
    const now = this.#clock.databaseNow()
    const ended = await this.#cancelWaiting(now, ids, cancellation)
    const cancelled = ended.map(({ id }) => id)
    reportCancelled(this.#events, ended)
    if (cancelled.length > 0) await this.#herald.tell(cancelled)
    await this.#admitter.admit(ended.flatMap(workKeysOf))
    this.#onStepsEnded(ended.flatMap(({ workflowId }) => workflowId ?? []))
    if (cancellation.onlyWaiting) return { cancelled, requested: [] }
    const asked = await this.#decided(now, cancellation, 'running', (tx) =>
      jobCancelRunning(tx, now, ids, cancellation.reason),
    )
    const workers = new Set(asked.map(({ workerId }) => workerId))
    if (workers.size > 0)
      await this.#waker.tellWorkers([...workers].map((workerId) => ({ kind: 'reconcile', workerId })))
    return { cancelled, requested: asked.map(({ id }) => id) }
  }

  /** Nobody may have made today's partitions: no worker has run for days, or a test has moved time. */
  async #cancelWaiting(now: Now, ids: readonly string[], cancellation: Cancellation): Promise<CancelledRow[]> {
    const { retentions } = this.#registry
    const cancelWaiting = () =>
      this.#decided(now, cancellation, 'waiting', (tx) =>
        jobCancelWaiting(tx, now, ids, cancellation.reason, retentions),
      )
    try {
      return await cancelWaiting()
    } catch (error) {
      if (!isNoPartition(error)) throw error
      await ensurePartitions(this.#db, now)
      return await cancelWaiting()
    }
  }

  /** Cancels under the name of the one who decided it. */
  #decided<Row extends { id: string; tenant: string | null }>(
    now: Now,
    { by, isAudited = false }: Cancellation,
    was: 'waiting' | 'running',
    cancel: (tx: Transaction) => Promise<Row[]>,
  ): Promise<Row[]> {
    return this.#db.transaction(async (tx) => {
      if (by !== undefined) await historyBy(tx, by)
      const rows = await cancel(tx)
      if (by !== undefined && isAudited) {
        const entries = rows.map(({ id, tenant }) => ({
          by,
          action: 'job.cancel',
          target: id,
          tenant,
          details: { was },
        }))
        await auditWrite(tx, now, ...entries)
      }
      return rows
    })
  }

  /** Makes a waiting job due now. False: it is not waiting. `action`: what the audit log calls it. */
  async runNow(id: string, options: { by: string }, action = 'job.run_now'): Promise<boolean> {
    const by = author(options.by)
    if (!isJobId(id)) return false
    const now = this.#clock.databaseNow()
    const rows = await this.#db.transaction(async (tx) => {
      await historyBy(tx, by)
      const due = await jobRunNow(tx, now, [id])
      await auditWrite(tx, now, ...due.map(({ tenant }) => ({ by, action, target: id, tenant })))
      return due
    })
    this.#waker.wake(rows.map((row) => row.queue))
    await this.#admitter.admit(rows.flatMap(workKeysOf))
    return rows.length > 0
  }

  async get(id: string): Promise<JobDetails | undefined> {
    const job = isJobId(id) ? await jobGet(this.#db, id) : undefined
    return job && shownJob(this.#registry, job)
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
}
