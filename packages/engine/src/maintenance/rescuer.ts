// Takes runs away from workers that died, and ends runs that are stuck beyond their deadline.
//
// Runs every few seconds in every worker process, all at once: row locks and fences decide. Mostly there is nothing to
// do, so it looks first, in one statement, and opens a transaction only for what that has seen. It judges others only
// after this process has held its own lease for a whole time to live, because after a database outage everybody looks
// dead. A lease that was ended needs no judgement: its runs are taken at once, also by a process that has just started.
// If it dies halfway, its transaction rolls back and the next pass, anywhere, does the work.
import type { Clock } from '../clock.ts'
import type { Retention } from '../contract/job.ts'
import type { DeadReason } from '../contract/redrive.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import { failureOf } from '../failure.ts'
import { isRefused } from '../sql-state.ts'
import type { Database, Session } from '../store/db.ts'
import { jobOrphans, jobOverdue, type Orphan, type Overdue } from '../store/running-jobs.ts'
import { endsStep, giveBack, type Settlement, settle } from '../store/settlements.ts'
import { type DeadWorker, rescueNeeds, workerExpire } from '../store/workers.ts'
import type { Ticker } from './loop.ts'
import type { MetricFlush } from './metric-flush.ts'
import { writeRescuedSpan } from './rescued-span.ts'

const BATCH = 200
/** The third crash of a job makes it a dead letter. */
const MAX_CRASHES = 3

export interface RescueResult {
  deadWorkers: DeadWorker[]
  rescued: number
  isMore: boolean
}

export interface RescuerServices {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  intervalMs: number
  /** True when our own lease has been held for a whole time to live: silence and lateness of others then mean something. */
  mayJudge(): boolean
  wake(queues: Iterable<string>): void
  /** Keyed jobs wait for admission. */
  onBlocked(): void
  /** Where the ends of runs are counted. */
  metrics?: MetricFlush
  /** Jobs of these workflows have ended. */
  onStepsEnded(workflowIds: readonly string[]): void
}

export class Rescuer implements Ticker<RescueResult> {
  readonly name = 'rescue'
  readonly #services: RescuerServices

  constructor(services: RescuerServices) {
    this.#services = services
  }

  async tick(): Promise<RescueResult> {
    const { db, clock } = this.#services
    const needs = await rescueNeeds(db, clock.databaseNow())
    if (needs.blocked) this.#services.onBlocked()
    const mayJudge = this.#services.mayJudge()
    // Leases live on the database's own clock, whatever a test does with time.
    const deadWorkers = mayJudge && needs.expired ? await workerExpire(db, null) : []
    const orphans = needs.orphaned || deadWorkers.length > 0 ? await this.#settleOrphans() : 0
    const overdue = mayJudge && needs.overdue ? await this.#settleOverdue() : 0
    return { deadWorkers, rescued: orphans + overdue, isMore: orphans === BATCH || overdue === BATCH }
  }

  delayAfter(result: RescueResult): number {
    return result.isMore ? 0 : this.#services.intervalMs
  }

  async #settleOrphans(): Promise<number> {
    const orphans = await this.#settleLocked(
      (tx) => jobOrphans(tx, BATCH),
      (orphan) => this.#settlementOf(orphan),
    )
    this.#services.wake(new Set(orphans.map(({ row }) => row.queue)))
    for (const { row, settlement } of orphans) writeRescuedSpan(row, settlement)
    return orphans.length
  }

  async #settleOverdue(): Promise<number> {
    const overdue = await this.#settleLocked(
      (tx) => jobOverdue(tx, this.#services.clock.databaseNow(), BATCH),
      (run) => this.#bury(run, 'stuck', 'StuckRun', 'The run went on beyond twice its timeout and was fenced off.'),
    )
    return overdue.length
  }

  /** Finds runs and settles them in one transaction, so that the rows found are the rows written. */
  async #settleLocked<Found extends Overdue & Partial<Orphan>>(
    find: (tx: Session) => Promise<Found[]>,
    settlementOf: (found: Found) => Settlement,
  ): Promise<{ row: Found; settlement: Settlement }[]> {
    const { events, metrics } = this.#services
    const found = await this.#inOneTransaction(find, settlementOf).catch((error: unknown) => {
      if (!isRefused(error)) throw error
      // One row whose end Postgres will not store must not keep the others from theirs: all go back instead.
      return this.#inOneTransaction(find, ({ id, runId }) => ({
        ...giveBack({ id, runId }),
        delayMs: 60_000,
        refund: false,
      }))
    })
    const outcomes = { finish: 'cancelled', requeue: 'requeued', bury: 'dead' } as const
    for (const { row, settlement } of found) {
      const reason = settlement.kind === 'bury' ? settlement.reason : null
      const { id, queue, type, tenant } = row
      const worker = deadWorkerOf(row)
      events.emit('job_rescued', { id, type, queue, tenant, outcome: outcomes[settlement.kind], reason, worker })
      const outcome = settlement.kind === 'requeue' ? 'crashed' : outcomes[settlement.kind]
      metrics?.count({ queue, type, tenant: null, outcome, durationMs: null, waitMs: null, latencyMs: null })
    }
    const ended = found.filter(({ settlement }) => endsStep(settlement))
    this.#services.onStepsEnded(ended.flatMap(({ row }) => row.workflowId ?? []))
    return found
  }

  #inOneTransaction<Found>(
    find: (tx: Session) => Promise<Found[]>,
    settlementOf: (found: Found) => Settlement,
  ): Promise<{ row: Found; settlement: Settlement }[]> {
    const { db, clock } = this.#services
    return db.transaction(async (tx) => {
      const rows = await find(tx)
      const settlements = rows.map(settlementOf)
      for (const kind of ['finish', 'requeue', 'bury'] as const) {
        const batch = settlements.filter((settlement) => settlement.kind === kind)
        await settle(tx, clock.databaseNow(), batch)
      }
      return rows.map((row, i) => ({ row, settlement: settlements[i] as Settlement }))
    }, 30_000)
  }

  #settlementOf(orphan: Orphan): Settlement {
    const { id, runId, workflowId } = orphan
    if (orphan.cancelRequested) {
      const retention = this.#retentionOf(orphan.type)
      return { kind: 'finish', id, runId, workflowId, status: 'cancelled', result: null, reason: null, retention }
    }
    if (orphan.crashes + 1 >= MAX_CRASHES) {
      const message = `The worker process died ${MAX_CRASHES} times while running this job.`
      return this.#bury(orphan, 'crash_loop', 'CrashLoop', message, `The last time it ran on ${placeOf(orphan)}.`)
    }
    const died = failureOf('WorkerDied', 'Its worker died.')
    const failure = { ...died, message: `It ran on ${placeOf(orphan)}.`, logs: null }
    return { kind: 'requeue', id, runId, delayMs: null, refund: true, crash: 'count', failure }
  }

  #bury(
    run: { id: string; runId: string; type: string; workflowId: string | null },
    reason: DeadReason,
    errorClass: string,
    message: string,
    details = '',
  ): Settlement {
    // Alike are failures of one kind, whatever the details.
    const failure = { ...failureOf(errorClass, message), message: `${message} ${details}`.trim(), logs: null }
    const { id, runId, workflowId } = run
    return { kind: 'bury', id, runId, workflowId, reason, failure, retention: this.#retentionOf(run.type), drop: false }
  }

  /** The job may be of a type only other programs know. */
  #retentionOf(type: string): Retention {
    return this.#services.registry.find(type)?.retention ?? 'standard'
  }
}

/** "pid 411 on host web-3, which ended: lease expired (worker …)": first what a person looks for. */
function placeOf({ workerId, host, pid, endedReason }: Orphan): string {
  if (host === null) return `worker ${workerId}, which is forgotten`
  return `pid ${pid} on host ${host}, which ended: ${endedReason} (worker ${workerId})`
}

/** Null: it is forgotten, or it lives and only the run was stuck. */
function deadWorkerOf({ workerId: id, host, pid }: Partial<Orphan>): DeadWorker | null {
  return id === undefined || host == null || pid == null ? null : { id, host, pid }
}
