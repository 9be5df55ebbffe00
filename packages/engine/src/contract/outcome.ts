// What a handler can return besides a result. Branded values, so that no result can be mistaken for one.
import { MAX_RETRY_AFTER_MS, MIN_RETRY_AFTER_MS } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

const brand = Symbol('millrace.outcome')

export interface Snooze {
  readonly [brand]: 'snooze'
  readonly delayMs: number
}

export interface Cancel {
  readonly [brand]: 'cancel'
  readonly reason: string
}

export interface Discard {
  readonly [brand]: 'discard'
  readonly reason: string
}

export type Outcome = Snooze | Cancel | Discard

/** Run this job again later; no attempt is used up. */
export function snooze(delay: Duration): Snooze {
  return { [brand]: 'snooze', delayMs: toMs(delay, 'snooze(delay)') }
}

/** End this job on purpose: not a failure, nobody is alarmed. */
export function cancel(reason: string): Cancel {
  return { [brand]: 'cancel', reason }
}

/** Give this job up now: it becomes a dead letter, whatever attempts are left. */
export function discard(reason: string): Discard {
  return { [brand]: 'discard', reason }
}

/** What `value` asks for, or undefined when it is a plain result. */
export function outcomeKind(value: unknown): 'snooze' | 'cancel' | 'discard' | undefined {
  return typeof value === 'object' && value !== null && brand in value ? (value as Outcome)[brand] : undefined
}

/**
 * Thrown by a handler whose service said "not now": the job waits that long (half a second to a day) and keeps its
 * attempt. So do all others, in all processes, that share the limit it names; without a name, each limit of the job type
 * that has a rate.
 */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number
  readonly limit: string | undefined

  constructor(
    delay: Duration,
    message = 'The service asked to be called again later',
    options: { limit?: string } = {},
  ) {
    super(message)
    this.limit = options.limit
    this.delayMs = Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, toMs(delay, 'RetryAfter(delay)')))
  }
}
