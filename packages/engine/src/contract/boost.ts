// How waiting makes up for a low priority.
import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

export interface BoostOptions {
  /** A job that has been due for so long comes up, and again after every further such time. Default 10 min. */
  after?: Duration
  /** By how much, against the queue's own priority. Default 1. */
  by?: number
  /** How often at most. It never comes up beyond priority 0. Default 5. */
  most?: number
}

/** A job that has been due for `afterMs` has at worst this priority. */
export interface BoostStep {
  readonly afterMs: number
  readonly priority: number
}

const MAX_STEPS = 100

/** Shortest wait first; empty: waiting changes nothing. */
export function boostSteps(queue: string, priority: number, option: BoostOptions | false = {}): BoostStep[] {
  if (option === false) return []
  const afterMs = toMs(option.after ?? '10m', `Queue "${queue}": boost.after`)
  if (afterMs < 1_000) throw new InvalidDefinition(`Queue "${queue}" boosts after ${afterMs} ms: 1 s is the least.`)
  const by = count(option.by ?? 1, `Queue "${queue}" has boost.by`)
  const most = count(option.most ?? 5, `Queue "${queue}" has boost.most`)
  const steps: BoostStep[] = []
  for (let nth = 1; nth <= most; nth++) {
    steps.push({ afterMs: afterMs * nth, priority: Math.max(0, priority - by * nth) })
    if (priority - by * nth <= 0) break
  }
  return steps
}

function count(value: number, what: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_STEPS) return value
  throw new InvalidDefinition(`${what} ${value}: expected an integer from 1 to ${MAX_STEPS}, or boost: false.`)
}
