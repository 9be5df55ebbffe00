// What a run in a test says about itself: the settlement that was or would be written, in words.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract } from '../contract/job.ts'
import type { DeadReason } from '../contract/redrive.ts'
import { openStored, ownerOf } from '../contract/sealed.ts'
import type { JobRef } from '../events.ts'
import type { Failure } from '../failure.ts'
import type { Logger } from '../logger.ts'
import type { Settlement } from '../store/settlements.ts'
import type { Run } from '../worker/run.ts'

export type RunOutcome<Result = unknown> =
  /** `result` as it is stored: what the handler returned, through the contract's schema and JSON. */
  | { outcome: 'completed'; result: Result }
  | { outcome: 'cancelled'; reason: string }
  /** The attempt failed, and the next one is due after `delayMs`. */
  | { outcome: 'retry'; delayMs: number; failure: Failure }
  /** `snooze`, or RetryAfter: it runs again, and no attempt was used up. */
  | { outcome: 'snoozed'; delayMs: number }
  /** `dropped`: without a dead letter. */
  | { outcome: 'dead'; reason: DeadReason; failure: Failure; dropped: boolean }
  /** Back in its queue as if it had not run: the handler threw LeaseLost. */
  | { outcome: 'returned' }
  /** Nothing was written: when the run ended, its job was no longer its own. */
  | { outcome: 'lost' }

/** One line that the handler wrote to `ctx.log`, with the fields that name its job. */
export interface LogLine {
  level: keyof Logger
  message: string
  fields: object
}

export type RunReport<Result = unknown> = RunOutcome<Result> & { job: JobRef; logs: readonly LogLine[] }

/** What a contract's result is once it was stored; unknown if the contract does not say. */
export type ResultOutput<C extends JobContract> = C['result'] extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<C['result']>
  : unknown

export function reportOf(run: Run, settlement: Settlement | undefined, logs: readonly LogLine[]): RunReport {
  return { ...outcomeOf(run, settlement), job: run.ref(), logs }
}

function outcomeOf(run: Run, settlement: Settlement | undefined): RunOutcome {
  switch (settlement?.kind) {
    case undefined:
      return { outcome: 'lost' }
    case 'finish':
      return settlement.status === 'cancelled'
        ? { outcome: 'cancelled', reason: settlement.reason ?? '' }
        : { outcome: 'completed', result: resultOf(run, settlement.result) }
    case 'bury':
      return {
        outcome: 'dead',
        reason: settlement.reason,
        failure: plain(settlement.failure),
        dropped: settlement.drop,
      }
    case 'requeue': {
      const delayMs = settlement.delayMs ?? 0
      if (settlement.failure !== null) return { outcome: 'retry', delayMs, failure: plain(settlement.failure) }
      return settlement.crash === 'clear' ? { outcome: 'snoozed', delayMs } : { outcome: 'returned' }
    }
  }
}

/** In plain: a test may see what its own handler returned. */
function resultOf({ keys, contract, job }: Run, text: string | null): unknown {
  return text === null ? null : openStored(keys, { contract, part: 'result', owner: ownerOf(job) }, asStored(text))
}

const plain = ({ class: name, message, stack, fingerprint }: Failure): Failure => ({
  class: name,
  message,
  stack,
  fingerprint,
})

/** JSON as it comes back from a jsonb column, which keeps no order of keys but its own. */
export function asStored(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareKeys(a, b)))
      : value,
  )
}

/** Shorter keys first, then by their bytes. */
function compareKeys(a: string, b: string): number {
  return Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** A logger that remembers, and passes on to another one. */
export class LogCollector implements Logger {
  readonly #next: Logger | undefined
  lines: LogLine[] = []

  constructor(next?: Logger) {
    this.#next = next
  }

  debug = (fields: object, message: string): void => this.#log('debug', fields, message)
  info = (fields: object, message: string): void => this.#log('info', fields, message)
  warn = (fields: object, message: string): void => this.#log('warn', fields, message)
  error = (fields: object, message: string): void => this.#log('error', fields, message)

  #log(level: keyof Logger, fields: object, message: string): void {
    this.lines.push({ level, message, fields })
    this.#next?.[level](fields, message)
  }
}
