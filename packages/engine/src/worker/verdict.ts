// From how a handler ended to what is written about it. Pure, so that every case can be tested without a database.
import { type Outcome, outcomeKind, RetryAfter } from '../contract/outcome.ts'
import { type Checked, encodeResult, resultIssues, validate } from '../contract/payload.ts'
import type { DeadReason } from '../contract/redrive.ts'
import { backoffMs } from '../contract/retry.ts'
import { ownerOf, sealText } from '../contract/sealed.ts'
import {
  BreakerOpen,
  BudgetExceeded,
  InvalidPayload,
  InvalidResult,
  LeaseLost,
  NewerPayload,
  OnceBusy,
  PayloadNotUpgraded,
  TenantIsolationViolation,
  TenantSuspended,
  TimedOut,
  Undecryptable,
  Unrecoverable,
  WorkerStopping,
} from '../errors.ts'
import { type Finish, giveBack, type Settlement } from '../store/settlements.ts'
import type { Run } from './run.ts'
import { failureOfRun } from './run-redaction.ts'

/** How the handler ended. */
export type Ending = { value: unknown } | { thrown: unknown }

/** Why a job's signal aborted because somebody cancelled it. */
export class CancelRequested extends Error {
  override readonly name = 'CancelRequested'

  constructor() {
    super('The job was cancelled while it ran.')
  }
}

/**
 * A payload of a version that this worker does not know is for workers that do: an attempt would be burnt for nothing,
 * and a dead letter would blame the job for the order of a deployment. It comes again this often and without end, because
 * nobody can tell how long a deployment takes; the worker's log says so, and `millrace explain`.
 */
const NEWER_WAIT_MS = 15_000

export interface VerdictInput {
  run: Run
  ending: Ending
  /** Milliseconds since the job was first due, by the database's clock. */
  ageMs: number
  logs: string | null
  random: number
}

/** The settlement of a run whose handler has returned or thrown. A promise only if the result's schema is asynchronous. */
export function verdict(input: VerdictInput): Settlement | Promise<Settlement> {
  const { run, ending } = input
  const aborted = run.abortReason
  // A timed-out attempt has failed, whatever the handler says afterwards.
  if (aborted instanceof TimedOut) return failed(input, aborted)
  if ('value' in ending) {
    try {
      const settlement = settlementOfValue(run, ending.value, input.logs)
      if (!(settlement instanceof Promise)) return settlement
      return settlement.catch((error: unknown) => failed(input, error))
    } catch (error) {
      return failed(input, error)
    }
  }
  if (aborted instanceof CancelRequested) return finish(run, 'cancelled', null, null)
  if (isNotItsFault(aborted)) return giveBack(run.fence)
  return failed(input, ending.thrown)
}

/** Stopped for reasons of ours: it goes back to the queue as if it had not been claimed. */
function isNotItsFault(aborted: unknown): boolean {
  return aborted instanceof WorkerStopping || aborted instanceof LeaseLost || aborted instanceof TenantSuspended
}

/** What a returned value means. Throws InvalidResult when it cannot be recorded. */
export function settlementOfValue(run: Run, value: unknown, logs: string | null): Settlement | Promise<Settlement> {
  switch (outcomeKind(value)) {
    case 'snooze':
      return requeue(run, { delayMs: (value as Outcome & { delayMs: number }).delayMs, refund: true })
    case 'cancel':
      return finish(run, 'cancelled', null, run.redactor.text((value as Outcome & { reason: string }).reason))
    case 'discard':
      return bury(run, 'discarded', new Unrecoverable((value as Outcome & { reason: string }).reason), logs)
    case undefined:
      return completed(run, value)
  }
}

export function bury(run: Run, reason: DeadReason, error: unknown, logs: string | null): Settlement {
  const { contract } = run
  return {
    kind: 'bury',
    id: run.job.id,
    runId: run.runId,
    workflowId: run.job.workflowId,
    reason,
    failure: { ...failureOfRun(run, error), logs },
    retention: contract.retention,
    drop: reason === 'exhausted' || reason === 'gave_up' ? contract.retry.onExhausted === 'drop' : false,
  }
}

function failed({ run, ageMs, logs, random }: VerdictInput, error: unknown): Settlement {
  const { retry } = run.contract
  const { attempt, maxAttempts } = run.job
  if (error instanceof LeaseLost) return giveBack(run.fence)
  if (error instanceof BudgetExceeded) return held(run, error)
  // One of another job, which the handler tried to enqueue, is a failure like any other.
  if (error instanceof InvalidPayload && error.isStored) return bury(run, 'invalid_payload', error, logs)
  if (error instanceof PayloadNotUpgraded || error instanceof Undecryptable)
    return bury(run, 'invalid_payload', error, logs)
  if (error instanceof NewerPayload) return requeue(run, { delayMs: NEWER_WAIT_MS, refund: true })
  if (isHopeless(error)) return bury(run, 'unrecoverable', error, logs)
  // Nothing was tried: however long it has waited, that is no reason to give up.
  if (error instanceof BreakerOpen || error instanceof OnceBusy)
    return requeue(run, { delayMs: error.delayMs, refund: true })
  const isPostponed = error instanceof RetryAfter
  if (!isPostponed && attempt >= maxAttempts) return bury(run, 'exhausted', error, logs)
  const delayMs = isPostponed ? error.delayMs : backoffMs(retry.backoff, { attempt, error, random })
  if (retry.giveUpAfterMs !== undefined && ageMs + delayMs > retry.giveUpAfterMs)
    return bury(run, 'gave_up', error, logs)
  if (isPostponed) return requeue(run, { delayMs, refund: true })
  return { ...requeue(run, { delayMs, refund: false }), failure: { ...failureOfRun(run, error), logs } }
}

/** Neither a failure nor an attempt: the job waits for its budget, or ends because that is spent. */
function held(run: Run, { budget, level, retryInMs, message }: BudgetExceeded): Settlement {
  if (level === 'HARD_STOP') return { ...finish(run, 'cancelled', null, message), stoppedBy: budget }
  return requeue(run, { delayMs: retryInMs, refund: true })
}

const isHopeless = (error: unknown): boolean =>
  error instanceof Unrecoverable || error instanceof InvalidResult || error instanceof TenantIsolationViolation

function requeue(run: Run, how: { delayMs: number; refund: boolean }): Settlement & { kind: 'requeue' } {
  return { kind: 'requeue', id: run.job.id, runId: run.runId, ...how, crash: 'clear', failure: null }
}

function finish(run: Run, status: 'completed' | 'cancelled', result: string | null, reason: string | null): Finish {
  const { id, workflowId } = run.job
  const { retention, logs: kept } = run.contract
  const logs = kept === 'keep' ? (run.recorder?.recording() ?? null) : null
  return { kind: 'finish', id, runId: run.runId, workflowId, status, result, reason, logs, retention }
}

function completed(run: Run, value: unknown): Settlement | Promise<Settlement> {
  const { result: schema } = run.contract
  if (schema === undefined) return finish(run, 'completed', resultText(run, value), null)
  const checked = validate(schema, value)
  const withResult = (result: Checked): Settlement =>
    finish(run, 'completed', resultText(run, valid(run, result)), null)
  return checked instanceof Promise ? checked.then(withResult) : withResult(checked)
}

function valid({ contract }: Run, checked: Checked): unknown {
  if (!('issues' in checked)) return checked.value
  throw new InvalidResult(contract.type, resultIssues(contract, checked.issues))
}

function resultText({ contract, keys, job }: Run, result: unknown): string | null {
  if (result === undefined) return null
  const encoded = encodeResult(contract, result)
  if ('problem' in encoded) throw new InvalidResult(contract.type, encoded.problem)
  if (keys === undefined && contract.sensitive.length > 0)
    throw new InvalidResult(contract.type, 'it is sensitive, and this worker has no keys to encrypt it with')
  return sealText(keys, { contract, part: 'result', owner: ownerOf(job) }, encoded.text)
}
