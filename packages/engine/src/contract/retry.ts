// When to try again. A backoff is a function from the attempt that failed (1, 2, …) to the wait before the next one.
import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

export interface BackoffInput {
  /** The attempt that has just failed, from 1. */
  attempt: number
  /** What it threw. */
  error: unknown
  /** A number in [0, 1): the dice, passed in so that a policy can be tested. */
  random: number
}

/** Milliseconds until the next attempt. */
export type Backoff = (input: BackoffInput) => number

export interface RetryPolicy {
  /** Attempts in all, the first one included. Default 5. */
  attempts?: number
  /** Default: exponential from 30 s, ±25 %. */
  backoff?: Backoff
  /** After a failed attempt, no other is scheduled later than this after the job was first due. */
  giveUpAfter?: Duration
  /** What becomes of a job that has no attempt left: a dead letter, or nothing at all. Default 'dead-letter'. */
  onExhausted?: 'dead-letter' | 'drop'
}

/** No backoff waits longer than this, whatever its formula says. */
export const MAX_BACKOFF_MS = 30 * 24 * 3_600_000

/** `jitter: 0.25` spreads by ±25 %; `{ plus: 0.1 }` adds 0–10 %. */
export type Jitter = number | { plus: number }

/** base × factor^(attempt − 1), spread by the jitter, then cut off at the cap. */
export function exponential(options: { base: Duration; factor?: number; jitter?: Jitter; cap?: Duration }): Backoff {
  const base = toMs(options.base, 'exponential({ base })')
  const factor = positive(options.factor ?? 2, 'exponential({ factor })')
  const spread = spreader(options.jitter)
  const cap = capOf(options.cap)
  return ({ attempt, random }) => Math.min(cap, spread(base * factor ** (attempt - 1), random))
}

/** base × attempt. */
export function linear(options: { base: Duration; jitter?: Jitter; cap?: Duration }): Backoff {
  const base = toMs(options.base, 'linear({ base })')
  const spread = spreader(options.jitter)
  const cap = capOf(options.cap)
  return ({ attempt, random }) => Math.min(cap, spread(base * attempt, random))
}

/** Always the same wait. */
export function fixed(wait: Duration, options: { jitter?: Jitter } = {}): Backoff {
  const base = toMs(wait, 'fixed(wait)')
  const spread = spreader(options.jitter)
  return ({ random }) => Math.min(MAX_BACKOFF_MS, spread(base, random))
}

/** One wait per attempt; the last one repeats. */
export function delays(waits: readonly [Duration, ...Duration[]], options: { jitter?: Jitter } = {}): Backoff {
  const list = waits.map((wait) => toMs(wait, 'delays([…])'))
  if (list.length === 0) throw new InvalidDefinition('delays([]) needs at least one wait.')
  const spread = spreader(options.jitter)
  return ({ attempt, random }) => {
    const wait = list[Math.min(attempt, list.length) - 1] as number
    return Math.min(MAX_BACKOFF_MS, spread(wait, random))
  }
}

/** Default of engine, queue and type alike: 30 s, 60 s, 120 s, … ±25 %. */
export const defaultBackoff: Backoff = exponential({ base: '30s', jitter: 0.25 })
export const DEFAULT_ATTEMPTS = 5

/** Runs a backoff, also a hand-written one, and makes a usable wait of whatever comes out or is thrown. */
export function backoffMs(backoff: Backoff, input: BackoffInput): number {
  let ms: number
  try {
    ms = backoff(input)
  } catch {
    ms = defaultBackoff(input)
  }
  return Number.isNaN(ms) ? MAX_BACKOFF_MS : Math.min(MAX_BACKOFF_MS, Math.max(0, ms))
}

function spreader(jitter: Jitter | undefined): (ms: number, random: number) => number {
  if (jitter === undefined) return (ms) => ms
  const [low, high] = typeof jitter === 'number' ? [-jitter, jitter] : [0, jitter.plus]
  if (!(low >= -1 && high >= 0 && high <= 10)) {
    throw new InvalidDefinition(`jitter is ${JSON.stringify(jitter)}: expected a share between 0 and 1, like 0.25.`)
  }
  return (ms, random) => ms * (1 + low + random * (high - low))
}

function capOf(cap: Duration | undefined): number {
  return Math.min(MAX_BACKOFF_MS, cap === undefined ? MAX_BACKOFF_MS : toMs(cap, 'cap'))
}

function positive(value: number, what: string): number {
  if (!(value > 0)) throw new InvalidDefinition(`${what} is ${value}: expected a number above 0.`)
  return value
}
