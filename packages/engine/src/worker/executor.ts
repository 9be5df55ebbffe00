// Runs one claimed job: take its flag, check its payload, call the handler, watch its time, hand over the verdict.
import { after, type Clock, monotonicMs } from '../clock.ts'
import { parseStored } from '../contract/payload.ts'
import { TimedOut } from '../errors.ts'
import { runContext } from '../run-context.ts'
import type { Settlement } from '../store/settlements.ts'
import { type ContextServices, type Implementation, RunningContext } from './context.ts'
import { ageMs } from './database-time.ts'
import type { IsolatedHandler } from './isolation/isolated-run.ts'
import type { Run } from './run.ts'
import { bury, CancelRequested, type Ending, verdict } from './verdict.ts'

export interface ExecutorServices extends ContextServices {
  clock: Clock
  implementation(type: string): Implementation
  /** The handler of an isolated type, in a process that is ready. It must be called. */
  isolatedHandler(run: Run): Promise<IsolatedHandler>
  /** True when this run may start: its flag was ours to take and the lease is trusted. */
  mayStart(run: Run): boolean
  settle(run: Run, settlement: Settlement): void
  /** After ctx.complete(tx): did the handler's transaction commit? */
  isCompleted(run: Run): Promise<boolean>
  onStarted(run: Run): void
  /** The handler has returned or thrown. */
  onReturned(run: Run): void
  /** The handler's own transaction has settled the run. */
  onCommitted(run: Run): void
  onLeaked(run: Run): void
}

export class Executor {
  readonly #services: ExecutorServices

  constructor(services: ExecutorServices) {
    this.#services = services
  }

  /** Never rejects. Resolves when the handler has returned and its verdict is on its way. */
  async execute(run: Run): Promise<void> {
    let payload: unknown
    let refusal: Ending | undefined
    try {
      payload = parseStored(run.contract, run.job.payload)
      if (payload instanceof Promise) payload = await payload
    } catch (thrown) {
      refusal = { thrown }
    }
    // Taken at the last moment: until its handler is called, a job can still be given back by the pulse.
    if (!this.#services.mayStart(run)) return
    run.startedAtMs = monotonicMs()
    this.#services.onStarted(run)
    const context = new RunningContext(run, this.#services)
    if (run.job.cancelRequestedAt !== null) run.abort(new CancelRequested())
    if (run.abortReason !== undefined) refusal = { thrown: run.abortReason }
    const ending = refusal ?? (await this.#timed(run, context, payload))
    this.#services.onReturned(run)
    try {
      await this.#conclude(run, context, ending)
    } catch (error) {
      // Whatever goes wrong between the handler and its verdict must not leave the job without one.
      if (!run.isSettling) this.#services.settle(run, bury(run, 'unrecoverable', error, null))
    }
  }

  async #timed(run: Run, context: RunningContext, payload: unknown): Promise<Ending> {
    let stopClock = () => {}
    try {
      const { handler } = this.#services.implementation(run.job.type)
      // To start a process may take longer than the handler: it is not on its clock.
      const call = typeof handler === 'function' ? handler : await this.#services.isolatedHandler(run)
      stopClock = this.#startClock(run, context)
      const { id: jobId, correlationId } = run.job
      return { value: await runContext.run({ jobId, correlationId }, () => call(payload as never, context)) }
    } catch (thrown) {
      return { thrown }
    } finally {
      stopClock()
    }
  }

  async #conclude(run: Run, context: RunningContext, ending: Ending): Promise<void> {
    // Fenced off while it ran: whatever it did is too late.
    if (run.isSettling) return
    if (run.inTransaction !== undefined && !run.isCommitted) await this.#lookForCommit(run)
    if (run.isCommitted) return this.#services.onCommitted(run)
    const settlement = await this.#verdict(run, context, ending)
    if (!run.isSettling) this.#services.settle(run, settlement)
  }

  /** Once the handler has called ctx.complete(tx) we never write completion ourselves: we look. */
  async #lookForCommit(run: Run): Promise<void> {
    try {
      run.isCommitted = await this.#services.isCompleted(run)
    } catch {
      // Cannot look now. The settlement that follows is fenced: it loses if the transaction did commit.
    }
  }

  #verdict(run: Run, context: RunningContext, ending: Ending): Promise<Settlement> | Settlement {
    const rolledBack: Ending =
      run.inTransaction !== undefined && 'value' in ending
        ? { thrown: new Error('The handler called ctx.complete(tx), but that transaction did not commit.') }
        : ending
    const age = ageMs(run.job, this.#services.clock.databaseNow(), monotonicMs() - run.claimedAtMs)
    return verdict({ run, ending: rolledBack, ageMs: age, logs: context.recording(), random: Math.random() })
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
