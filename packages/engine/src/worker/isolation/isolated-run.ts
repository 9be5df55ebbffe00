// One run in a process of its own: its abort, its log lines, its questions, its end.
import { after, type Clock, monotonicMs, within } from '../../clock.ts'
import { Unrecoverable, WorkerStopping } from '../../errors.ts'
import type { RunningContext } from '../context.ts'
import { recordVault } from '../effects.ts'
import type { Run } from '../run.ts'
import { CancelRequested, settlementOfValue } from '../verdict.ts'
import { answerBudgetCall } from './budget-call.ts'
import type { IsolatedChild } from './child-process.ts'
import { decodeEnding, decodeValue, encodeThrown, isSendable } from './encoding.ts'
import { passBreaker } from './isolated-breaker.ts'
import type { AboutRun, RunFacts, RunRequest } from './protocol.ts'

/** Less than what a worker that shuts down waits after its abort: the process is gone before its job is given back. */
const STOPPING_LAST_CALL_MS = 300
const CANCEL_LAST_CALL_MS = 2_000

/** Returns what the handler returned, throws what it threw, or IsolatedCrash. */
export type IsolatedHandler = (payload: unknown, context: RunningContext) => Promise<unknown>

export interface IsolatedWork {
  run: Run
  clock: Clock
  /** The process is free again, or gone. */
  onReturned(): void
}

/** Resolves when the process is ready for this run, which from now on can be aborted. */
export async function isolatedHandler(child: IsolatedChild, work: IsolatedWork): Promise<IsolatedHandler> {
  const { run } = work
  const disobey = obeyAbort(child, run)
  const release = () => {
    disobey()
    work.onReturned()
  }
  try {
    await readyInTime(child, run)
  } catch (error) {
    release()
    throw error
  }
  return async (payload, context) => {
    try {
      if (run.abortReason !== undefined) throw run.abortReason
      const request = requestOf(work, payload, context)
      const ending = decodeEnding(
        await child.call(request, (message) => void hear(child, { run, context }, message).catch(() => {})),
      )
      if ('thrown' in ending) throw ending.thrown
      return ending.value
    } finally {
      release()
    }
  }
}

/** The start is not on the handler's clock, but the run's deadline in the database does not wait for it. */
async function readyInTime(child: IsolatedChild, run: Run): Promise<void> {
  const { type, stuckAfterMs, timeoutMs } = run.limits
  const patienceMs = stuckAfterMs - timeoutMs
  await within(patienceMs, child.ready)
  if (child.isReady) return
  child.kill()
  throw new Error(
    `The process for job "${type}" was not ready within ${patienceMs} ms. Keep more of them warm, or raise the timeout.`,
  )
}

/**
 * A timed-out attempt has failed and a lost one is somebody else's: there is nothing to wait for. Who is cancelled or
 * told to stop may still put things in order, for a moment.
 */
function obeyAbort(child: IsolatedChild, run: Run): () => void {
  let cancelKill = () => {}
  const obey = () => {
    const reason = run.abortReason
    const lastCallMs =
      reason instanceof CancelRequested
        ? CANCEL_LAST_CALL_MS
        : reason instanceof WorkerStopping
          ? STOPPING_LAST_CALL_MS
          : undefined
    if (lastCallMs === undefined) return child.kill()
    child.send({ kind: 'abort', reason: encodeThrown(reason) })
    cancelKill = after(lastCallMs, () => child.kill())
  }
  run.signal.addEventListener('abort', obey)
  return () => {
    run.signal.removeEventListener('abort', obey)
    cancelKill()
  }
}

function requestOf({ run, clock }: IsolatedWork, payload: unknown, context: RunningContext): RunRequest {
  if (!isSendable(payload)) {
    throw new Unrecoverable(
      `The payload of job "${run.job.type}", as its schema transforms it, cannot be sent to another process: it holds a function or the like. Transform it in the handler.`,
    )
  }
  return {
    facts: factsOf(context),
    payload,
    retention: run.contract.retention,
    allowSecrets: run.contract.allowSecrets,
    isSensitive: run.contract.sensitive.length > 0,
    stuckInMs: run.stuckAtMs - monotonicMs(),
    databaseNow: clock.databaseNow(),
    budget: run.budget,
  }
}

function factsOf(context: RunningContext): RunFacts {
  const { jobId, type, queue, tenant, attempt, maxAttempts, correlationId, parentJobId, createdBy, workflowId } =
    context
  const { runId, traceParent, traceId } = context
  const own = { jobId, type, queue, tenant, attempt, maxAttempts, runId, traceParent, traceId }
  return { ...own, correlationId, parentJobId, createdBy, workflowId }
}

type Running = { run: Run; context: RunningContext }

async function hear(child: IsolatedChild, { run, context }: Running, message: AboutRun): Promise<void> {
  switch (message.kind) {
    case 'log':
      context.log[message.level](message.fields, message.message)
      break
    case 'progress': {
      const { done, total, note } = message.progress
      context.progress(done, total, note)
      break
    }
    case 'in-transaction':
      run.inTransaction = message.settlement
      break
    case 'settlement-of':
      await answer(child, message.ask, async () => settlementOfValue(run, decodeValue(message.value), null))
      break
    case 'budget':
      await answer(child, message.ask, () => answerBudgetCall(context.budgetPort(), message.call))
      break
    case 'enqueue':
      await answer(child, message.ask, () => context.enqueuePrepared(message.prepared))
      break
    case 'seal':
    case 'open':
      await answer(child, message.ask, async () => recordVault(run)[message.kind](message.place, message.text))
      break
    case 'breaker':
      await answer(child, message.ask, () => passBreaker(context, message))
      break
  }
}

async function answer(child: IsolatedChild, ask: number, work: () => Promise<unknown>): Promise<void> {
  try {
    child.send({ kind: 'answer', ask, value: await work() })
  } catch (error) {
    child.send({ kind: 'refused', ask, error: encodeThrown(error) })
  }
}
