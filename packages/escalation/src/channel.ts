// What a channel is: somewhere people are told, with the rules of whoever runs it.
import type { EgressFetch } from '@millrace/egress'
import type { Fault, News } from './fault.ts'
import type { Links } from './links.ts'
import type { Mailer } from './mailer.ts'

export interface Message {
  /** The same if it is sent again: recipients recognise a repeat by it. */
  readonly key: string
  /** Nobody knows whether it has arrived before. */
  readonly isRepeat: boolean
  readonly faults: readonly Fault[]
  readonly news: readonly News[]
  readonly links: Links
  readonly at: Date
}

export interface Transports {
  readonly fetch: EgressFetch
  readonly mailer: Mailer
  readonly signal: AbortSignal
}

export interface Channel {
  readonly kind: 'pagerduty' | 'slack' | 'email' | 'digest' | 'webhook'
  /** The least time between two messages. */
  readonly spacingMs: number
  /** Each fault is a message of its own. */
  readonly isPerFault: boolean
  /** A message that is sent again may take more faults with it. Not where recipients drop a repeat by its key. */
  readonly grows: boolean
  /** What it is told of a fault later. */
  readonly tells: readonly News['becomes'][]
  /** Of a digest: when the next one after that time is due, and which one was due last. */
  readonly digest?: { next(after: Date): Date; last(before: Date): Date }
  /** Throws SendFailed. */
  send(message: Message, transports: Transports): Promise<void>
}

/** refused: it will never be taken; missed: it did not arrive; unknown: it may have. */
export type SendOutcome = 'refused' | 'missed' | 'unknown'

export class SendFailed extends Error {
  override readonly name = 'SendFailed'
  readonly outcome: SendOutcome
  /** As the other side asked. */
  readonly retryAfterMs: number | undefined

  constructor(
    outcome: SendOutcome,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.outcome = outcome
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Whole characters, with an ellipsis if something is missing. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = text.slice(0, longest - 1)
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`
}
