import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

export interface LimitOptions {
  /** How many jobs under it run at once, in all processes together. */
  running?: number
  /** How many of them run at once in one process, in all its workers: for what a machine has few of, such as browsers. */
  perProcess?: number
  /** How many are started in any stretch of that length: '50/minute', or { jobs: 50, per: '1m' }. */
  rate?: RateText | { jobs: number; per: Duration }
  /** 'tenant': every tenant has these numbers for itself. Default: all together. */
  per?: 'tenant'
}

type RateText = `${number}/${'second' | 'minute' | 'hour' | 'day'}`

export interface Rate {
  readonly jobs: number
  readonly perMs: number
}

/** A limit on jobs of one type, of a queue, or of all types that use one service or resource. */
export interface Limit {
  readonly name: string
  readonly running: number | undefined
  readonly perProcess: number | undefined
  readonly rate: Rate | undefined
  readonly isPerTenant: boolean
}

const NAME = /^[a-zA-Z][\w.-]{0,62}$/
const UNIT_MS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
const RATE = /^(\d+)\/(second|minute|hour|day)$/
const MAX = 1_000_000

/** Declares a limit by name: give it to queues and job types in `limits`, and it holds for all of them together. */
export function defineLimit(name: string, options: LimitOptions): Limit {
  if (!NAME.test(name)) {
    throw new InvalidDefinition(
      `Limit name "${name}" is not usable: expected a letter followed by up to 62 letters, digits, "_", "." or "-".`,
    )
  }
  const { running, perProcess, rate, per } = options
  if (running === undefined && perProcess === undefined && rate === undefined) {
    throw new InvalidDefinition(`Limit "${name}" limits nothing: give it running, perProcess or rate.`)
  }
  if (per !== undefined && per !== 'tenant') {
    throw new InvalidDefinition(`Limit "${name}" is per ${JSON.stringify(per)}: expected 'tenant', or leave it out.`)
  }
  return {
    name,
    running: running === undefined ? undefined : count(running, `Limit "${name}": running`),
    perProcess: perProcess === undefined ? undefined : count(perProcess, `Limit "${name}": perProcess`),
    rate: rate === undefined ? undefined : rateOf(rate, `Limit "${name}": rate`),
    isPerTenant: per === 'tenant',
  }
}

export function rateOf(rate: string | { jobs: number; per: Duration }, what: string): Rate {
  if (typeof rate !== 'string') {
    const perMs = toMs(rate.per, `${what}.per`)
    if (perMs < 100) throw new InvalidDefinition(`${what} is per ${perMs} ms: 100 ms is the least.`)
    return { jobs: count(rate.jobs, `${what}.jobs`), perMs }
  }
  const [, jobs, unit] = RATE.exec(rate) ?? []
  if (jobs === undefined) {
    throw new InvalidDefinition(`${what} is "${rate}": expected a number per second, minute, hour or day: '50/minute'.`)
  }
  return { jobs: count(Number(jobs), what), perMs: UNIT_MS[unit as keyof typeof UNIT_MS] }
}

/** 0 is a limit too: nothing runs until somebody raises it. */
function count(value: number, what: string): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX) return value
  throw new InvalidDefinition(`${what} is ${value}: expected an integer from 0 to ${MAX}.`)
}
