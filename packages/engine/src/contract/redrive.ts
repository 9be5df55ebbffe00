// Dead letters that go back to work by themselves: which, when, and how often at most.
import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

const DEAD_REASONS = [
  'exhausted',
  'discarded',
  'unrecoverable',
  'gave_up',
  'invalid_payload',
  'stuck',
  'crash_loop',
] as const

/** Why a job has failed for good. */
export type DeadReason = (typeof DEAD_REASONS)[number]

/** A dead letter of this type is redriven by itself, unless a person was faster. */
export interface RedrivePolicy {
  /** How long it stays dead first. */
  after: Duration
  /** How many redrives one job can have had, also by hand; then it waits for a person. */
  atMost: number
  /** Default: only `exhausted`, because the others say that trying again does not help. */
  reasons?: readonly DeadReason[]
}

export interface ResolvedRedrive {
  readonly afterMs: number
  readonly atMost: number
  readonly reasons: readonly DeadReason[]
}

const MOST = 100

export function resolveRedrive(type: string, policy: RedrivePolicy | undefined): ResolvedRedrive | undefined {
  if (policy === undefined) return undefined
  const { atMost, reasons = ['exhausted'] } = policy
  if (!Number.isInteger(atMost) || atMost < 1 || atMost > MOST) {
    throw new InvalidDefinition(`Job "${type}" has redrive.atMost ${atMost}: expected an integer from 1 to ${MOST}.`)
  }
  const unknown = reasons.find((reason) => !DEAD_REASONS.includes(reason))
  if (unknown !== undefined || reasons.length === 0) {
    throw new InvalidDefinition(
      `Job "${type}" has redrive.reasons ${JSON.stringify(reasons)}: expected one or more of ${DEAD_REASONS.join(', ')}.`,
    )
  }
  const afterMs = toMs(policy.after, `Job "${type}": redrive.after`)
  if (afterMs < 1_000)
    throw new InvalidDefinition(`Job "${type}" is redriven after ${afterMs} ms: one second is the least.`)
  return { afterMs, atMost, reasons: [...new Set(reasons)] }
}
