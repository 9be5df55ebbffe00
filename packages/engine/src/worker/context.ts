// What a handler gets besides its payload.

import type { EnqueueOptions, OptionsArgument, PreparedJob } from '../client/enqueue-options.ts'
import type { EnqueueResult } from '../client/enqueuer.ts'
import type { JobContract, PayloadInput, PayloadOutput, ResultInput } from '../contract/job.ts'
import type { Outcome } from '../contract/outcome.ts'
import { checkedProgress, type Progress } from '../contract/progress.ts'
import type { Service } from '../contract/service.ts'
import { InvalidDefinition } from '../errors.ts'
import { type BreakerCallOptions, callThrough, type Door } from '../governance/breaker-call.ts'
import type { OnceOptions } from '../governance/once.ts'
import type { TenantDbOptions } from '../governance/tenant-db.ts'
import type { Logger } from '../logger.ts'
import type { Queryable } from '../store/statements.ts'
import type { Transaction } from '../store/transaction.ts'
import { activeTraceParent, traceIdOf } from '../tracing.ts'
import type { EffectsContext, OnceCall, StepOptions, TenantDbCall } from './effects.ts'
import { FlightRecorder } from './flight-recorder.ts'
import type { HandlerEnqueuer } from './handler-enqueuer.ts'
import { checkIsolation, type Isolation } from './isolation/isolation.ts'
import type { Run } from './run.ts'
import { type BudgetPort, noBudget, PortedBudget, type RunBudget } from './run-budget.ts'
import { traceParentOfRun } from './run-span.ts'

export interface JobContext {
  readonly jobId: string
  readonly type: string
  readonly queue: string
  readonly tenant: string | null
  /** 1 while the first attempt runs. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly correlationId: string
  readonly parentJobId: string | null
  readonly createdBy: string | null
  /** Of which workflow this job is part; null: of none. */
  readonly workflowId: string | null
  readonly runId: string
  /** W3C `traceparent` of this run's span; without an SDK, of the span that enqueued the job. Null: nothing is traced. */
  readonly traceParent: string | null
  /** Of the same trace, for log lines and messages. */
  readonly traceId: string | null
  /** Aborts on timeout, cancellation, shutdown and loss of the lease; `signal.reason` says which. */
  readonly signal: AbortSignal
  /** Bound to this job; the last lines are stored with the attempt if it fails. */
  readonly log: Logger
  /** What is left of the budget that the contract names. Throws InvalidDefinition if it names none. */
  readonly budget: RunBudget
  /**
   * Says how far this run is: `millrace.job`, `millrace.result({ onProgress })` and the event `job_progress` tell it. Call it as
   * often as you like: the latest is stored, about once a second. Throws InvalidDefinition for numbers that make no sense.
   */
  progress(done: number, total?: number, note?: string): void
  /**
   * Writes a job, as millrace.enqueue does: it is a child of this one, and inherits its correlation. In an isolated handler the
   * worker writes it, so `{ tx }` is refused there.
   */
  enqueue<C extends JobContract>(
    contract: C,
    payload: PayloadInput<C>,
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult>
  /**
   * Exactly-once effects: what `work` writes through `tx` and the completion of this job commit together, or not at
   * all. Return its value from the handler.
   */
  transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value>
  /**
   * The low-level form, for a transaction of your own: completes the job inside `tx`. Throws LeaseLost when this run
   * no longer owns the job: let your transaction roll back.
   */
  complete(tx: Queryable, result?: unknown): Promise<void>
  /**
   * Calls a service through its circuit breaker, which all workers share. While it is open nothing is called: `fallback`
   * answers, or BreakerOpen is thrown, with which the job waits and keeps its attempt.
   */
  breaker<Value>(
    service: Service | string,
    call: () => Value | Promise<Value>,
    options?: BreakerCallOptions<Value>,
  ): Promise<Value>
  /**
   * Does `work` once per tenant, job type and key, and returns its recorded result to whoever asks again: a retry, or
   * another job. Dies the process between effect and record, it is done again; with `{ tx }`, or inside ctx.transaction
   * or ctx.tenantDb, the record commits with the effects: exactly once. The result is JSON, the first time too. Throws
   * OnceBusy when another live run is at it and does not end soon.
   */
  once<Value>(key: string, work: () => Value | Promise<Value>, options?: OnceOptions): Promise<Value>
  /**
   * A part of the handler that is not repeated: its result is recorded with the job, and a retry, or a redrive of the dead
   * letter, gets the record instead of doing it again. Dies the process between effect and record, it is done again; inside
   * a transaction the record commits with the effects. The result is JSON, the first time too. Every name once per run.
   */
  step<Value>(name: string, work: () => Value | Promise<Value>, options?: StepOptions): Promise<Value>
  /**
   * Runs `work` in a transaction under the tenant's role, where row-level security decides what it sees. Throws
   * TenantIsolationViolation when it writes a row of another tenant. With `{ complete: true }` the job completes in that
   * transaction, as with ctx.transaction.
   */
  tenantDb<Value>(work: (tx: Queryable) => Promise<Value>, options?: TenantDbOptions): Promise<Value>
}

export type Handler<C extends JobContract> = (
  payload: PayloadOutput<C>,
  ctx: JobContext,
) => HandlerResult<C> | Promise<HandlerResult<C>>

type HandlerResult<C extends JobContract> = ResultInput<C> | Outcome

export interface Implementation<C extends JobContract = JobContract> {
  readonly contract: C
  /** The handler, or where to find the one that runs in a process of its own. */
  readonly handler: ((payload: never, ctx: JobContext) => unknown) | Isolation
  /** What spans call it: `job.handler`. */
  readonly name: string
}

export interface ImplementOptions {
  /** What spans call the handler. Default: the function's name, else the job type. */
  name?: string
}

/** Ties a handler to its contract. Lives in the worker's code; the contract lives where everybody can import it. */
export function implement<C extends JobContract>(
  contract: C,
  handler: Handler<C> | Isolation,
  options: ImplementOptions = {},
): Implementation<C> {
  if (typeof handler !== 'function') checkIsolation(contract.type, handler)
  const given = typeof handler === 'function' ? handler.name : ''
  const name = options.name ?? (given || contract.type)
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME)
    throw new InvalidDefinition(
      `The handler of job "${contract.type}" has the name ${JSON.stringify(name)}: expected text of 1 to ${MAX_NAME} characters.`,
    )
  return { contract, handler: handler as Implementation['handler'], name }
}

const MAX_NAME = 200

export interface ContextServices {
  logger: Logger
  enqueuer: HandlerEnqueuer
  onProgress(run: Run, progress: Progress): void
  completeInOwnTransaction<Value>(run: Run, work: (tx: Transaction) => Promise<Value>): Promise<Value>
  completeIn(run: Run, tx: Queryable, result: unknown): Promise<void>
  /** Where ctx.budget sends its calls. */
  budgetPort(run: Run): BudgetPort
  breakerDoor(run: Run, service: Service | string): Door
  once<Value>(run: Run, context: EffectsContext, call: OnceCall<Value>): Promise<Value>
  step<Value>(run: Run, context: EffectsContext, call: OnceCall<Value>): Promise<Value>
  tenantDb<Value>(run: Run, context: EffectsContext, call: TenantDbCall<Value>): Promise<Value>
}

export class RunningContext implements JobContext {
  readonly #run: Run
  readonly #services: ContextServices
  #recorder: FlightRecorder | undefined
  #budget: RunBudget | undefined

  constructor(run: Run, services: ContextServices) {
    this.#run = run
    this.#services = services
  }

  get jobId(): string {
    return this.#run.job.id
  }
  get type(): string {
    return this.#run.job.type
  }
  get queue(): string {
    return this.#run.job.queue
  }
  get tenant(): string | null {
    return this.#run.job.tenant
  }
  get attempt(): number {
    return this.#run.job.attempt
  }
  get maxAttempts(): number {
    return this.#run.job.maxAttempts
  }
  get correlationId(): string {
    return this.#run.job.correlationId
  }
  get parentJobId(): string | null {
    return this.#run.job.parentJobId
  }
  get createdBy(): string | null {
    return this.#run.job.createdBy
  }
  get workflowId(): string | null {
    return this.#run.job.workflowId
  }
  get runId(): string {
    return this.#run.runId
  }
  get traceParent(): string | null {
    return traceParentOfRun(this.#run)
  }
  get traceId(): string | null {
    return traceIdOf(this.traceParent)
  }
  get signal(): AbortSignal {
    return this.#run.signal
  }

  get log(): Logger {
    if (this.#recorder === undefined) {
      this.#recorder = new FlightRecorder(this.#services.logger, this.#run)
      this.#run.recorder = this.#recorder
    }
    return this.#recorder
  }

  get budget(): RunBudget {
    this.#budget ??= this.#openBudget()
    return this.#budget
  }

  #openBudget(): RunBudget {
    const port = this.budgetPort()
    if (this.#run.budget === undefined) throw noBudget(this.type)
    return new PortedBudget(port, this.#run.budget)
  }

  budgetPort(): BudgetPort {
    return this.#services.budgetPort(this.#run)
  }

  progress(done: number, total?: number | null, note?: string | null): void {
    this.#services.onProgress(this.#run, checkedProgress(done, total, note))
  }

  async enqueue(contract: JobContract, payload: unknown, options: EnqueueOptions = {}): Promise<EnqueueResult> {
    const { id: parentJobId, correlationId } = this.#run.job
    const inherited = { parentJobId, correlationId, ...this.#inheritedTrace() }
    return this.#services.enqueuer.enqueue(contract, payload, { ...inherited, ...options })
  }

  /** Of a handler that has left its context, for instance through a callback: otherwise the active span knows more. */
  #inheritedTrace(): { traceParent?: string } {
    const { traceParent } = this
    return traceParent === null || activeTraceParent() !== null ? {} : { traceParent }
  }

  /** For the process of an isolated handler, which has checked it. */
  enqueuePrepared(prepared: PreparedJob): Promise<EnqueueResult> {
    return this.#services.enqueuer.enqueuePrepared(prepared)
  }

  /** What the flight recorder kept, as JSON text. */
  recording(): string | null {
    return this.#recorder?.recording() ?? null
  }

  transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    return this.#services.completeInOwnTransaction(this.#run, work)
  }

  complete(tx: Queryable, result?: unknown): Promise<void> {
    return this.#services.completeIn(this.#run, tx, result)
  }

  async breaker<Value>(
    service: Service | string,
    call: () => Value | Promise<Value>,
    options?: BreakerCallOptions<Value>,
  ): Promise<Value> {
    return callThrough(this.door(service), call, options)
  }

  /** This run at the breaker of a service, for whoever makes the call elsewhere. */
  door(service: Service | string): Door {
    return this.#services.breakerDoor(this.#run, service)
  }

  once<Value>(key: string, work: () => Value | Promise<Value>, options: OnceOptions = {}): Promise<Value> {
    return this.#services.once(this.#run, this, { key, work, options })
  }

  step<Value>(name: string, work: () => Value | Promise<Value>, { tx }: StepOptions = {}): Promise<Value> {
    return this.#services.step(this.#run, this, { key: name, work, options: tx === undefined ? {} : { tx } })
  }

  tenantDb<Value>(work: (tx: Queryable) => Promise<Value>, options: TenantDbOptions = {}): Promise<Value> {
    return this.#services.tenantDb(this.#run, this, { work, options })
  }
}
