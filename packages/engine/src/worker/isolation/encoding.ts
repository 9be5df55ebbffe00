// Outcomes and errors on their way between two processes. A structured clone loses the brand of an outcome and the class
// of an error, and both decide what becomes of a job.
import { serialize } from 'node:v8'
import { cancel, discard, type Outcome, outcomeKind, RetryAfter, snooze } from '../../contract/outcome.ts'
import {
  BreakerOpen,
  BudgetExceeded,
  ConnectionLost,
  DatabaseConflict,
  DatabaseRefused,
  DatabaseTimeout,
  DatabaseUnavailable,
  EncryptionKeyMissing,
  EnqueueUnknown,
  InvalidDefinition,
  InvalidPayload,
  InvalidResult,
  KeyBusy,
  LeaseLost,
  OnceBusy,
  PermissionDenied,
  SchemaMissing,
  SecretInPayload,
  TenantIsolationViolation,
  TenantLimitReached,
  TenantMismatch,
  TenantRequired,
  TenantSuspended,
  TimedOut,
  UnknownJobType,
  Unrecoverable,
  WorkerStopping,
} from '../../errors.ts'
import { failureFrom } from '../../failure.ts'
import { CancelRequested, type Ending } from '../verdict.ts'

/** The classes that somebody asks for by `instanceof`; any other error keeps its name. */
const recognised = {
  Unrecoverable,
  RetryAfter,
  BudgetExceeded,
  BreakerOpen,
  ConnectionLost,
  DatabaseConflict,
  DatabaseRefused,
  DatabaseTimeout,
  DatabaseUnavailable,
  EncryptionKeyMissing,
  EnqueueUnknown,
  InvalidDefinition,
  InvalidPayload,
  InvalidResult,
  KeyBusy,
  LeaseLost,
  OnceBusy,
  PermissionDenied,
  SchemaMissing,
  SecretInPayload,
  TenantIsolationViolation,
  TenantLimitReached,
  TenantMismatch,
  TenantRequired,
  TenantSuspended,
  TimedOut,
  UnknownJobType,
  WorkerStopping,
  CancelRequested,
} as const

export type SentValue =
  | { outcome: 'snooze'; delayMs: number }
  | { outcome: 'cancel' | 'discard'; reason: string }
  | { plain: unknown }

interface SentError {
  class: keyof typeof recognised | undefined
  name: string
  message: string
  stack: string | null
  /** Its own enumerable properties, as far as they can be sent: a backoff may look at `status`. */
  fields: object
}

export type SentThrown = { error: SentError } | { notAnError: unknown }
export type SentEnding = { value: SentValue } | { thrown: SentThrown }

export function encodeValue(value: unknown): SentValue {
  switch (outcomeKind(value)) {
    case 'snooze':
      return { outcome: 'snooze', delayMs: (value as Outcome & { delayMs: number }).delayMs }
    case 'cancel':
      return { outcome: 'cancel', reason: (value as Outcome & { reason: string }).reason }
    case 'discard':
      return { outcome: 'discard', reason: (value as Outcome & { reason: string }).reason }
    case undefined:
      return { plain: value }
  }
}

export function decodeValue(sent: SentValue): unknown {
  if ('plain' in sent) return sent.plain
  if (sent.outcome === 'snooze') return snooze(sent.delayMs)
  return sent.outcome === 'cancel' ? cancel(sent.reason) : discard(sent.reason)
}

/** Never throws: a failure that cannot be told must not become another one. */
export function encodeThrown(thrown: unknown): SentThrown {
  try {
    if (thrown instanceof Error) return { error: encodeError(thrown) }
    return { notAnError: isSendable(thrown) ? thrown : failureFrom(thrown).message }
  } catch {
    const { class: name, message, stack } = failureFrom(thrown)
    return { error: { class: undefined, name, message, stack, fields: {} } }
  }
}

/** The error itself, cut to a size that can always be sent. */
export function withoutFields(sent: SentThrown): SentThrown {
  const { class: name, message, stack } = failureFrom('error' in sent ? decodeThrown(sent) : sent.notAnError)
  if ('notAnError' in sent) return { notAnError: message }
  return { error: { ...sent.error, name, message, stack, fields: {} } }
}

export function decodeThrown(sent: SentThrown): unknown {
  if ('notAnError' in sent) return sent.notAnError
  const { class: known, name, message, stack, fields } = sent.error
  const error = new Error(message)
  if (known !== undefined) Object.setPrototypeOf(error, recognised[known].prototype)
  Object.assign(error, fields)
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (stack === null) delete error.stack
  else error.stack = stack
  return error
}

export function decodeEnding(sent: SentEnding): Ending {
  return 'value' in sent ? { value: decodeValue(sent.value) } : { thrown: decodeThrown(sent.thrown) }
}

function encodeError(error: Error): SentError {
  const names = Object.keys(recognised) as (keyof typeof recognised)[]
  const { name, message, stack } = error
  return {
    class: names.find((each) => error instanceof recognised[each]),
    name: String(name),
    message: String(message),
    stack: stack === undefined ? null : String(stack),
    fields: sendableFields(error),
  }
}

/** A copy without what cannot be sent. */
export function sendableFields(from: object): object {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => isSendable(value)))
}

/** More than this is not sent: what a handler returns by mistake must not exhaust the worker too. */
const MAX_SENT_BYTES = 1024 * 1024

/** Throws what cannot be sent, or should not be. */
export function demandSendable(value: unknown): void {
  const { byteLength } = serialize(value)
  if (byteLength > MAX_SENT_BYTES) throw new Error(`it has ${byteLength} bytes, ${MAX_SENT_BYTES} is the most`)
}

export function isSendable(value: unknown): boolean {
  try {
    demandSendable(value)
    return true
  } catch {
    return false
  }
}
