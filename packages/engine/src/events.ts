// What happens inside a process, for logs, metrics and tests. Listeners run synchronously and cannot break the engine.
import type { Progress } from './contract/progress.ts'
import type { QueueOwner } from './contract/queue-facts.ts'
import type { DeadReason } from './contract/redrive.ts'
import type { BudgetRefusal } from './errors.ts'
import type { Failure } from './failure.ts'
import type { BudgetStatus } from './governance/budget-status.ts'
import type { AlertSeverity } from './store/alerts.ts'
import type { TickOrigin, TickOutcome } from './store/schedule-ticks.ts'
import type { SnapshotHolder } from './store/upkeep.ts'
import type { WorkerRequest } from './store/workers.ts'

export interface JobRef {
  id: string
  type: string
  queue: string
  tenant: string | null
  attempt: number
  correlationId: string
  runId: string
}

export interface WorkflowRef {
  id: string
  name: string
  tenant: string | null
  correlationId: string
}

export interface BreakerEvent {
  service: string
  isOwn: boolean
}

/** So many jobs of a queue, type and tenant. */
export interface CountedJobs {
  queue: string
  type: string
  tenant: string | null
  count: number
}

/** How a run ended. */
export interface RunEnd {
  job: JobRef
  /** From the start of the handler to its end. */
  durationMs: number
  /** From the time at which the job was first due to now. */
  ageMs: number
}

export interface AlertEvent {
  name: string
  /** What it is about: a queue, a type, a service. */
  subject: string
  severity: AlertSeverity
  /** What was measured, in one sentence. */
  why: string
  value: number
  threshold: number
  queues: readonly string[]
  owner: QueueOwner | null
  /** The condition has held since then, as ISO 8601. */
  since: string
}

export interface MillraceEvents {
  /**
   * This process has written so many jobs of a type. Jobs of the caller's own transaction are counted when they are written,
   * whether it commits or not.
   */
  jobs_enqueued: CountedJobs
  /** This process has cancelled so many jobs that waited. */
  jobs_cancelled: CountedJobs
  /** `waitMs`: how long the job had been due when it was claimed. */
  job_started: { job: JobRef; waitMs: number }
  job_completed: { job: JobRef; durationMs: number }
  /** As job_completed, with the age of the job. */
  job_succeeded: RunEnd
  /** An attempt failed, and the job is tried again, or it is dead. */
  job_failed: RunEnd & { failure: Failure; willRetry: boolean }
  /** What a handler said by ctx.progress was stored: about once a second at most. */
  job_progress: { job: JobRef; progress: Progress }
  /** A running job has ended as cancelled. */
  job_cancelled: RunEnd & { reason: string }
  job_snoozed: { job: JobRef; delayMs: number }
  job_retry_scheduled: { job: JobRef; failure: Failure; delayMs: number }
  job_died: { job: JobRef; reason: DeadReason; failure: Failure; dropped: boolean }
  /** Back to the queue without a result: shutdown, lost lease, or it waited too long for a slot. */
  job_returned: { job: JobRef; why: string }
  /** The run ended, but its fence no longer held: nothing was recorded. */
  job_fence_lost: { job: JobRef }
  /** A run was taken from a dead worker, or fenced off because it was stuck: then `worker` is null. `reason` says why it is dead. */
  job_rescued: {
    id: string
    type: string
    queue: string
    tenant: string | null
    outcome: 'requeued' | 'dead' | 'cancelled'
    reason: DeadReason | null
    worker: { id: string; host: string; pid: number } | null
  }
  /** A handler went on after its run was fenced off: its slot stays taken until it returns. */
  slot_leaked: { job: JobRef }
  slot_recovered: { job: JobRef }
  /**
   * A tenant has more jobs in a queue than it should; they are queued all the same. `createdBy`: of the first job beyond the
   * limit. Other processes hear it, too, at most once a minute for a tenant and queue.
   */
  job_limit_warning: { tenant: string; queue: string; jobs: number; limit: number; createdBy: string | null }
  /** So many jobs had waited for long behind others, and came up. */
  queue_boosted: { queue: string; jobs: number }
  /** A schedule was ticked by this process. */
  schedule_ticked: {
    schedule: string
    fireAt: Date
    origin: TickOrigin
    outcome: TickOutcome
    reason: string | null
    jobId: string | null
    jobs: number
    /** From the fire time to the tick, by the database's clock. */
    latenessMs: number
  }
  /** So many fire times of a schedule passed while nobody could tick, and get no job. */
  schedule_missed: { schedule: string; from: Date; to: Date; count: number }
  worker_started: { workerId: string }
  worker_stopped: { workerId: string }
  /** An operator asked this worker to take no more jobs or to stop; null: to go on. */
  worker_asked: { workerId: string; request: WorkerRequest | null }
  lease_lost: { workerId: string; why: string }
  listen_trusted: { isTrusted: boolean }
  /**
   * A worker has ignored so many notifications, and `total` since it started: it could not read them, or there were so many
   * that it stopped listening for a minute.
   */
  notifications_ignored: { count: number; total: number; why: 'unreadable' | 'flood' }
  loop_blocked: { ms: number }
  /** Memory runs short and nothing more is claimed, or it is free again. */
  memory_pressure: { percent: number; isHigh: boolean }
  /** This worker has more to do than it can, so that queues which are not critical yield; or it is over. */
  overload: { why: string; isOverloaded: boolean }
  /**
   * So many dead letters wait for a decision. Again only after there were fewer than the threshold. Other processes hear
   * it, too.
   */
  dlq_alert: { count: number; threshold: number }
  /** An alert fires, and is not silenced. Once, in all processes that listen, however many of them evaluate alerts. */
  alert_fired: AlertEvent
  /** An alert of which listeners were told no longer fires. */
  alert_cleared: AlertEvent
  /** A budget's spending has reached 75, 80, 90 or 100 %. Once per period in one process of all; again after a raise. */
  budget_threshold: { threshold: number; budget: BudgetStatus }
  /** A budget is nearly used up, so this job waits for the next full hour, or for a raise of the limit. */
  budget_hold: { job: JobRef; budget: BudgetRefusal }
  /** A budget is spent, so this job was cancelled. */
  budget_hard_stop: { job: JobRef; budget: BudgetRefusal }
  /** The breaker of a service has changed. `isOwn`: by this process; otherwise it has seen it. */
  breaker_opened: BreakerEvent
  breaker_half_opened: BreakerEvent
  breaker_closed: BreakerEvent
  /** So many dead rows that work gets slower. Again only after it was better. `mayRepair`: this role may clean it. */
  table_bloated: { table: string; deadRows: number; liveRows: number; bytes: number; mayRepair: boolean }
  /** Autovacuum had not come, so a table was cleaned. */
  vacuum_done: { table: string; deadRowsBefore: number; deadRowsAfter: number; durationMs: number }
  /** A table cannot be cleaned as long as this session, prepared transaction or slot holds its old snapshot. */
  vacuum_blocked: { table: string; deadRows: number; holder: SnapshotHolder }
  index_rebuilt: { index: string; bytesBefore: number; bytesAfter: number; durationMs: number }
  /** A workflow has ended, and this process saw to it. */
  workflow_completed: { workflow: WorkflowRef }
  workflow_failed: { workflow: WorkflowRef; reason: string }
  workflow_cancelled: { workflow: WorkflowRef; reason: string }
  /** It failed or was cancelled, and what it had done was undone. */
  workflow_rolled_back: { workflow: WorkflowRef; reason: string }
  /** … but not all of it could be: somebody has to look. */
  workflow_rollback_failed: { workflow: WorkflowRef; reason: string }
  database_error: { during: string; error: unknown }
  idle: { queues: readonly string[] }
}

/** Events that listeners in other processes hear, too. */
export const SHARED_EVENTS = ['job_limit_warning', 'dlq_alert', 'alert_fired', 'alert_cleared'] as const
export type SharedEvent = (typeof SHARED_EVENTS)[number]

/** How listeners elsewhere hear of shared events. */
export interface Sharing {
  /** A listener for one of them was added. */
  listen(): void
  /** This process has raised one of them. */
  raised<Name extends SharedEvent>(name: Name, payload: MillraceEvents[Name]): void
}

const isShared = (name: keyof MillraceEvents): name is SharedEvent => SHARED_EVENTS.some((each) => each === name)

type Listener<Payload> = (payload: Payload) => void

export class Events {
  readonly #listeners = new Map<keyof MillraceEvents, Set<Listener<never>>>()
  readonly #sharing: Sharing | undefined

  constructor(sharing?: Sharing) {
    this.#sharing = sharing
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof MillraceEvents>(name: Name, listener: Listener<MillraceEvents[Name]>): () => void {
    let listeners = this.#listeners.get(name)
    if (listeners === undefined) {
      listeners = new Set()
      this.#listeners.set(name, listeners)
    }
    listeners.add(listener as Listener<never>)
    if (isShared(name)) this.#sharing?.listen()
    return () => listeners.delete(listener as Listener<never>)
  }

  /** Resolves with the next event of that name that satisfies `matches`. */
  next<Name extends keyof MillraceEvents>(
    name: Name,
    matches: (payload: MillraceEvents[Name]) => boolean = () => true,
  ): Promise<MillraceEvents[Name]> {
    return new Promise((resolve) => {
      const off = this.on(name, (payload) => {
        if (!matches(payload)) return
        off()
        resolve(payload)
      })
    })
  }

  has(name: keyof MillraceEvents): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends keyof MillraceEvents>(name: Name, payload: MillraceEvents[Name]): void {
    this.deliver(name, payload)
    if (isShared(name)) this.#sharing?.raised(name, payload as never)
  }

  /** To the listeners of this process only. */
  deliver<Name extends keyof MillraceEvents>(name: Name, payload: MillraceEvents[Name]): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        const returned: unknown = (listener as Listener<MillraceEvents[Name]>)(payload)
        if (returned instanceof Promise) returned.catch(warn)
      } catch (error) {
        warn(error)
      }
    }
  }
}

/** A listener's mistake must neither fail a job nor stop a loop; it must not be silent either. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'MillraceListener')
}
