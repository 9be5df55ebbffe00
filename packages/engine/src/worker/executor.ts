// Runs one claimed job: take its flag, check its payload, call the handler, watch its time, hand over the verdict.
import { after, type Clock, monotonicMs } from '../clock.ts'
import { RetryAfter } from '../contract/outcome.ts'
import { parseStored } from '../contract/payload.ts'
import { openStored, ownerOf } from '../contract/sealed.ts'
import { BudgetExceeded, NewerPayload, TimedOut } from '../errors.ts'
import { runContext } from '../run-context.ts'
import type { Settlement } from '../store/settlements.ts'
import { type ContextServices, type Implementation, type JobContext, RunningContext } from './context.ts'
import type { IsolatedHandler } from './isolation/isolated-run.ts'
import type { Around, MiddlewareRun } from './middleware.ts'
import type { Run } from './run.ts'
import { insideSpan, startRunSpan, type TraceMode } from './run-span.ts'
import { bury, CancelRequested, type Ending, verdict } from './verdict.ts'

export interface ExecutorServices extends ContextServices {
  clock: Clock
  implementation(type: string): Implementation
  /** How the span of a run belongs to the one that enqueued its job. */
  traces: TraceMode
  /** What the program wants around each call of a handler. */
  around?: Around | undefined
  /** The handler of an isolated type, in a process that is ready. It must be called. */
  isolatedHandler(run: Run): Promise<IsolatedHandler>
  /** True when this run may start: its flag was ours to take and the lease is trusted. */
  mayStart(run: Run): boolean
  /** Asked of runs that are charged to a budget: undefined if the handler may be called. Never rejects. */
  admit(run: Run): Promise<Ending | undefined>
  settle(run: Run, settlement: Settlement): void
  /** After ctx.complete(tx): did the handler's transaction commit? */
  isCompleted(run: Run): Promise<boolean>
  onStarted(run: Run): void
  /** The handler has returned or thrown. */
  onReturned(run: Run): void
  /** The handler's own transaction has settled the run. */
  onCommitted(run: Run): void
  onLeaked(run: Run): void
  /** Its service asked for a pause. */
  onPostponed(run: Run, why: RetryAfter): void
}

export class Executor {
  readonly #services: ExecutorServices
  /** What was told once. */
  readonly #newer = new Set<string>()

  constructor(services: ExecutorServices) {
    this.#services = services
  }

  /**
   * Never throws. A handler that returns no promise has ended, and its verdict is on its way, before this returns: only
   * what is asynchronous waits for the event loop, because a promise costs more than a trivial job.
   */
  execute(run: Run): void {
    const payload = endingOf(() => payloadOf(run))
    if (payload instanceof Promise) void payload.then((later) => this.#start(run, later))
    else this.#start(run, payload)
  }

  /** `payload`: what the handler gets, or why it cannot be called. */
  #start(run: Run, payload: Ending): void {
    // Taken at the last moment: until its handler is called, a job can still be given back by the pulse.
    if (!this.#services.mayStart(run)) return
    run.startedAtMs = monotonicMs()
    run.span = startRunSpan(run, this.#services.implementation(run.job.type).name, this.#services.traces)
    this.#services.onStarted(run)
    const context = new RunningContext(run, this.#services)
    if (run.job.isCancelRequested) run.abort(new CancelRequested())
    const ending = this.#refusal(run, payload) ?? this.#call(run, context, (payload as { value: unknown }).value)
    if (ending instanceof Promise) void ending.then((later) => this.#end(run, context, later))
    else this.#end(run, context, ending)
  }

  #refusal(run: Run, payload: Ending): Ending | undefined {
    if (run.abortReason !== undefined) return { thrown: run.abortReason }
    if (!('thrown' in payload)) return undefined
    if (payload.thrown instanceof NewerPayload) this.#tellNewer(payload.thrown)
    return payload
  }

  /** Once for a type and version: thousands of such jobs may wait. */
  #tellNewer({ type, stored, known, message }: NewerPayload): void {
    const key = `${type} ${stored}`
    if (this.#newer.has(key)) return
    this.#newer.add(key)
    this.#services.logger.warn({ type, stored, known }, message)
  }

  #call(run: Run, context: RunningContext, payload: unknown): Ending | Promise<Ending> {
    if (run.contract.budget === undefined) return this.#callHandler(run, context, payload)
    return this.#services
      .admit(run)
      .then((held) => held ?? this.#refusal(run, { value: payload }) ?? this.#callHandler(run, context, payload))
  }

  #callHandler(run: Run, context: RunningContext, payload: unknown): Ending | Promise<Ending> {
    const { handler } = this.#services.implementation(run.job.type)
    if (typeof handler !== 'function') return this.#callIsolated(run, context, payload)
    const { around } = this.#services
    const call = () => handler(payload as never, context)
    let stopClock = () => {}
    const ending = endingOf(
      () => inContext(run, around === undefined ? call : () => around(seen(run, context), call)),
      () => stopClock(),
    )
    if (ending instanceof Promise) stopClock = this.#startClock(run, context)
    return ending
  }

  async #callIsolated(run: Run, context: RunningContext, payload: unknown): Promise<Ending> {
    const { around } = this.#services
    let stopClock = () => {}
    const callIt = async (): Promise<unknown> => {
      // To start a process may take longer than the handler: it is not on its clock.
      const call = await this.#services.isolatedHandler(run)
      stopClock()
      stopClock = this.#startClock(run, context)
      return call(payload as never, context)
    }
    try {
      if (around === undefined) return { value: await insideSpan(run, callIt) }
      stopClock = this.#startClock(run, context)
      return { value: await inContext(run, () => around(seen(run, context), callIt)) }
    } catch (thrown) {
      return { thrown }
    } finally {
      stopClock()
    }
  }

  #end(run: Run, context: RunningContext, ending: Ending): void {
    this.#services.onReturned(run)
    // Fenced off while it ran: whatever it did is too late.
    if (run.isSettling) return
    if (run.inTransaction !== undefined || run.isCommitted) void this.#endInTransaction(run, context, ending)
    else this.#conclude(run, context, ending)
  }

  #conclude(run: Run, context: RunningContext, ending: Ending): void {
    if ('thrown' in ending && run.abortReason === undefined) run.refusedBy = refusalOf(ending.thrown)
    if ('thrown' in ending && ending.thrown instanceof RetryAfter) this.#services.onPostponed(run, ending.thrown)
    const ageMs = run.ageMs(this.#services.clock.databaseNow())
    const settlement = endingOf(() => verdict({ run, ending, ageMs, logs: context.recording(), random: Math.random() }))
    if (settlement instanceof Promise) void settlement.then((later) => this.#settle(run, later))
    else this.#settle(run, settlement)
  }

  /** Whatever goes wrong between the handler and its verdict must not leave the job without one. */
  #settle(run: Run, settlement: Ending): void {
    if (run.isSettling) return
    const isDecided = 'value' in settlement
    this.#services.settle(
      run,
      isDecided ? (settlement.value as Settlement) : bury(run, 'unrecoverable', settlement.thrown, null),
    )
  }

  async #endInTransaction(run: Run, context: RunningContext, ending: Ending): Promise<void> {
    if (!run.isCommitted) await this.#lookForCommit(run)
    if (run.isCommitted) this.#services.onCommitted(run)
    if (run.isCommitted || run.isSettling) return
    const rolledBack = new Error('The handler called ctx.complete(tx), but that transaction did not commit.')
    this.#conclude(run, context, 'value' in ending ? { thrown: rolledBack } : ending)
  }

  /** Once the handler has called ctx.complete(tx) we never write completion ourselves: we look. */
  async #lookForCommit(run: Run): Promise<void> {
    try {
      run.isCommitted = await this.#services.isCompleted(run)
    } catch {
      // Cannot look now. The settlement that follows is fenced: it loses if the transaction did commit.
    }
  }

  /** At 1× the signal aborts; at 2× the run is fenced off as stuck while its handler still holds the slot. */
  #startClock(run: Run, context: RunningContext): () => void {
    const { type, timeoutMs } = run.limits
    let cancel = after(timeoutMs, () => {
      run.abort(new TimedOut(type, timeoutMs))
      cancel = after(run.stuckAtMs - monotonicMs(), () => {
        if (run.isSettling || run.inTransaction !== undefined) return
        run.isLeaked = true
        this.#services.settle(run, bury(run, 'stuck', new TimedOut(type, timeoutMs), context.recording()))
        this.#services.onLeaked(run)
      })
    })
    return () => cancel()
  }
}

/** What the handler gets: decrypted, of the current version, and parsed. The one place where a stored payload is read. */
function payloadOf({ contract, keys, job }: Run): unknown | Promise<unknown> {
  const opened = openStored(keys, { contract, part: 'payload', owner: ownerOf(job) }, job.payload)
  return parseStored(contract, opened, job.payloadVersion)
}

/** What is enqueued in `work` is a child of this job, and its spans are below the run's. */
function inContext<Value>(run: Run, work: () => Value): Value {
  // The row's trace parent is for children where there is no SDK; otherwise they ask for the active span.
  const { id: jobId, correlationId, traceParent } = run.job
  const own = { jobId, correlationId, traceParent }
  return run.span === undefined ? runContext.run(own, work) : insideSpan(run, () => runContext.run(own, work))
}

/** A run as middleware sees it. */
const seen = (run: Run, ctx: JobContext): MiddlewareRun => ({ job: run.ref(), contract: run.contract, ctx })

/** How `work` ends, and a promise of it only if `work` returns one. `finish` runs when that promise has ended. */
function endingOf(work: () => unknown, finish?: () => void): Ending | Promise<Ending> {
  try {
    const value = work()
    return isThenable(value) ? endingLater(value, finish) : { value }
  } catch (thrown) {
    return { thrown }
  }
}

async function endingLater(work: PromiseLike<unknown>, finish: (() => void) | undefined): Promise<Ending> {
  try {
    return { value: await work }
  } catch (thrown) {
    return { thrown }
  } finally {
    finish?.()
  }
}

function refusalOf(thrown: unknown): BudgetExceeded | undefined {
  return thrown instanceof BudgetExceeded ? thrown : undefined
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
