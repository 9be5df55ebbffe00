// One run of one job in this process: from the claim to the settlement.
import type { Span } from '@opentelemetry/api'
import { monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import type { KeyRing } from '../contract/key-ring.ts'
import type { Redactor } from '../contract/redact.ts'
import type { BudgetRefusal } from '../errors.ts'
import type { JobRef } from '../events.ts'
import type { BudgetStatus } from '../governance/budget-status.ts'
import type { ClaimedJob } from '../store/job-claims.ts'
import type { Settlement } from '../store/settlements.ts'
import type { Lane, LaneType } from './lane.ts'
import { redactorOf } from './run-redaction.ts'

export class Run {
  readonly job: ClaimedJob
  readonly runId: string
  readonly lane: Lane
  readonly contract: JobContract
  /** Of what is sensitive in it. */
  readonly keys: KeyRing | undefined
  /** How long it may take in this lane. */
  readonly limits: LaneType
  /** Where it lies on the board. */
  readonly place: number
  /** When the claim was answered, on the monotonic clock. */
  readonly claimedAtMs: number
  startedAtMs = 0
  /** When its handler returned or threw; 0: it has not. */
  returnedAtMs = 0
  /** The settlement is on its way or written: nobody else decides about this run any more. */
  isSettling = false
  /** Fenced off while its handler goes on. */
  isLeaked = false
  /** Written by `ctx.complete(tx)` or `ctx.transaction` in a transaction of the handler. */
  inTransaction: Settlement | undefined
  /** That transaction is known to have committed. */
  isCommitted = false
  /** Where its budget stood when it began. */
  budget: BudgetStatus | undefined
  /** It has reserved or spent something. */
  hasCharged = false
  /** It has spent in a transaction of its handler: nobody was told of thresholds yet. */
  hasUntold = false
  /** Its budget refused it: that is why its job is cancelled, or waits. */
  refusedBy: BudgetRefusal | undefined
  /** Keeps its last log lines. Undefined: it has said nothing. */
  recorder: { recording(): string | null } | undefined
  /** Undefined: it has not started, or the program has installed no SDK of OpenTelemetry. */
  span: Span | undefined
  #controller: AbortController | undefined
  #abortReason: unknown
  #redactor: Redactor | undefined

  constructor(job: ClaimedJob, fields: Pick<Run, 'runId' | 'lane' | 'contract' | 'keys' | 'place' | 'claimedAtMs'>) {
    this.job = job
    this.runId = fields.runId
    this.lane = fields.lane
    this.contract = fields.contract
    this.keys = fields.keys
    this.limits = fields.lane.typeOf(job.type)
    this.place = fields.place
    this.claimedAtMs = fields.claimedAtMs
  }

  get key(): string {
    return runKey(this.job.id, this.runId)
  }

  get fence(): { id: string; runId: string } {
    return { id: this.job.id, runId: this.runId }
  }

  get isSuspect(): boolean {
    return this.job.crashes > 0
  }

  /** How old the job is by now. `now`: what a clock says that is moved by hand. */
  ageMs(now: Date | null): number {
    const { ageMs, claimedAt } = this.job
    const isMoved = now !== null && claimedAt !== null
    return ageMs + (isMoved ? now.getTime() - claimedAt.getTime() : monotonicMs() - this.claimedAtMs)
  }

  get stuckAtMs(): number {
    return this.claimedAtMs + this.limits.stuckAfterMs
  }

  /** For whatever is told about this run. */
  get redactor(): Redactor {
    this.#redactor ??= redactorOf(this)
    return this.#redactor
  }

  /** Made when first asked for: most handlers never look, and a controller costs more than a trivial job. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  get abortReason(): unknown {
    return this.#abortReason
  }

  /** The first reason stands. */
  abort(reason: unknown): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }

  ref(): JobRef {
    const { id, type, queue, tenant, attempt, correlationId } = this.job
    return { id, type, queue, tenant, attempt, correlationId, runId: this.runId }
  }
}

export const runKey = (id: string, runId: string): string => `${id}/${runId}`
